/** The forms of backlog that are read. */
export const FORMAT_NAMES = [
  'implementation',
  'db',
  'orchestrator',
  'change',
  'prd-json',
  'task-master',
  'backlog-md',
  'checklist',
  'github-issues',
] as const
export type FormatName = (typeof FORMAT_NAMES)[number]

/** The forms in which the backlog is written. */
export const EXPORT_NAMES = ['implementation', 'db', 'tasks-jsonc', 'state', 'json'] as const
export type ExportName = (typeof EXPORT_NAMES)[number]
