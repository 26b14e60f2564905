import type { OptionSpec } from './command.ts'

/** The options of all commands. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: 'json', takes: 'flag', about: 'print JSON for programs' },
  { name: 'dir', takes: 'text', value: 'folder', about: 'the task folder, instead of docs/tasks' },
  { name: 'root', short: 'C', takes: 'text', value: 'path', about: 'work as if started there' },
  { name: 'no-color', takes: 'flag', about: 'print without colour' },
  { name: 'help', short: 'h', takes: 'flag', about: 'show this help' },
  { name: 'version', short: 'v', takes: 'flag', about: 'show the version' },
]
