/** The formats that can be read, in the order in which they are tried: the most specific first. */
export const FORMAT_NAMES = [
  'implementation',
  'prd-json',
  'feature-list',
  'beads',
  'bmad',
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

/** The formats in which a backlog can be written. */
export const EXPORT_NAMES = ['implementation', 'db', 'tasks-jsonc', 'state', 'json'] as const
export type ExportName = (typeof EXPORT_NAMES)[number]

/** A synced backlog of another tool: `bridges` in the configuration. */
export interface Bridge {
  readonly path: string
  readonly as: FormatName
  readonly sync: boolean
}
