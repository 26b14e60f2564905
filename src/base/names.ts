/** What an agent writes on a line of its own when it is done: the prompt asks for it, and the reader of its last message looks for it. */
export const DONE_MARKER = '<TASK_DONE>'

/** Says to whatever is started in an attempt which workspace it is in: there ralph starts nothing of its own. */
export const INSIDE_VARIABLE = 'RALPH_INSIDE'

/** The files that a project's configuration can stand in; besides them, the `ralph` key of package.json. */
export const CONFIG_FILES = [
  'ralph.config.json',
  'ralph.config.jsonc',
  'ralph.config.yaml',
  'ralph.config.yml',
] as const

/** The name under which an agent has ralph's own server. */
export const RALPH_SERVER = 'ralph'
