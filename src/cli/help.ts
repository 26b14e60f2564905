import { strong, dim, accent, line, paragraph, table, BLANK, type View } from '../screen/block.ts'
import type { CommandSpec } from './command.ts'
import { GLOBAL_OPTIONS, type OptionSpec } from './options/option.ts'

/** The output of `ralph --help`. */
export function overview(commands: readonly CommandSpec[]): View {
  const rows = commands.map((command) => [accent(command.name), dim(command.args), command.summary])
  return [
    line(strong('ralph'), ' does the tasks of docs/tasks, one commit each'),
    BLANK,
    line('Usage: ralph <command> [options]'),
    BLANK,
    ...table(rows, { wrap: 2 }),
    BLANK,
    line('Every command takes'),
    ...optionTable(GLOBAL_OPTIONS),
    BLANK,
    line(dim('ralph <command> --help shows its options, with an example.')),
  ]
}

/** The output of `ralph <command> --help`. */
export function helpOf(command: CommandSpec): View {
  const own = command.options.length > 0 ? [line('Options'), ...optionTable(command.options), BLANK] : []
  return [
    paragraph([], `${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`),
    BLANK,
    line(`Usage: ralph ${command.name}${command.args ? ` ${command.args}` : ''} [options]`),
    BLANK,
    ...own,
    line('Every command takes'),
    ...optionTable(GLOBAL_OPTIONS),
    BLANK,
    line(command.examples.length > 1 ? 'Examples' : 'Example'),
    ...command.examples.map((example) => line('  ', accent(example))),
  ]
}

/** The notation of an option: `-C, --root <path>`, `--timeout <20m>`. */
export function optionUsage(option: OptionSpec): string {
  const name = option.value ?? option.name
  const value = option.takes === 'flag' ? '' : option.alone === true ? ` [${name}]` : ` <${name}>`
  return `${option.short ? `-${option.short}, ` : ''}--${option.name}${value}`
}

function optionTable(options: readonly OptionSpec[]): View {
  const rows = options.map((option) => [accent(optionUsage(option)), option.about])
  return table(rows, { wrap: 1 })
}
