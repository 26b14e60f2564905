import { flag, type OptionSpec } from './option.ts'

/** The options of all commands. */
export const GLOBAL_OPTIONS = [
  flag('json', 'print JSON for programs'),
  { name: 'dir', takes: 'text', value: 'folder', about: 'the task folder, instead of docs/tasks' },
  { name: 'root', short: 'C', takes: 'text', value: 'path', about: 'work as if started there' },
  flag('no-color', 'print without colour'),
  { ...flag('help', 'show this help'), short: 'h' },
  { ...flag('version', 'show the version'), short: 'v' },
] as const satisfies readonly OptionSpec[]
