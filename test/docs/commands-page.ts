import type { CommandSpec } from '../../src/cli/command.ts'
import { GLOBAL_OPTIONS, type OptionSpec } from '../../src/cli/options/option.ts'
import { COMMANDS } from '../../src/cli/commands.ts'

/** docs/commands.md: what the help of each command says. */
export function commandsPage(): string {
  return `${HEAD}\n${optionList(GLOBAL_OPTIONS)}\n\n${COMMANDS.map(section).join('\n\n')}\n`
}

const HEAD = `# The commands

Commands work from anywhere inside the project. Results go to standard output, everything else to standard error. The exit code is

- **0** if it did what you asked,
- **1** if the answer is no: nothing is eligible, lint found errors, a task was blocked,
- **2** if the command line, the configuration or the environment is wrong,
- **130** if it was interrupted.

Every command takes these options:
`

/** An example that shows more than the usage and the options do. */
const TELLING = / -.* \w|[|>*]/

function section({ name, args, summary, options, examples }: CommandSpec): string {
  const usage = `ralph ${name}${args ? ` ${args}` : ''}`
  const telling = examples.filter((example) => TELLING.test(example)).slice(0, 2)
  return [
    `## ${name}`,
    `\`${usage}\` ${summary}.`,
    ...(options.length > 0 ? [optionList(options)] : []),
    ...(telling.length > 0 ? [`\`\`\`sh\n${telling.join('\n')}\n\`\`\``] : []),
  ].join('\n\n')
}

function optionList(options: readonly OptionSpec[]): string {
  return options.map((option) => `- \`${option.usage}\`: ${option.about}`).join('\n')
}
