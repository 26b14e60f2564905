/** The forms of backlog that are read, in the order in which a file is asked whether it is one: the most particular first. */
export const FORMAT_NAMES = [
  'implementation',
  'prd-json',
  'change',
  'task-master',
  'github-issues',
  'orchestrator',
  'db',
  'backlog-md',
  'checklist',
  'outline',
] as const
export type FormatName = (typeof FORMAT_NAMES)[number]

/** The forms in which the backlog is written. */
export const EXPORT_NAMES = ['implementation', 'db', 'tasks-jsonc', 'state', 'json'] as const
export type ExportName = (typeof EXPORT_NAMES)[number]
