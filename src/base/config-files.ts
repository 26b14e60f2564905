/** The files that a project's configuration can stand in; besides them, the `ralph` key of package.json. */
export const CONFIG_FILES = [
  'ralph.config.json',
  'ralph.config.jsonc',
  'ralph.config.yaml',
  'ralph.config.yml',
] as const
