import { AGENT_NAMES } from '../../base/names.ts'
import { UserError } from '../../base/errors.ts'
import { readFacts } from '../../backlog/read.ts'
import { printable } from '../../screen/printable.ts'
import type { CommandSpec, Context } from '../command.ts'
import { COMMANDS } from '../commands.ts'
import { GLOBAL_OPTIONS, type OptionSpec } from '../options/option.ts'

/** Prints a shell's completion script, which passes each line that a person types back to this command. */
export async function run(context: Context): Promise<number> {
  const wanted = context.args[0]!
  const text = wanted === 'offers' ? await offersText(context) : SCRIPTS.get(wanted)
  if (text === undefined)
    throw new UserError(`there is no completion for '${wanted}'`, 'Give one of bash, zsh, fish.')
  return context.answer({ for: wanted, text }, () => {
    context.printRaw(text)
    return []
  })
}

/** What fits as the last of the words on standard input: one a line, with its description after a tab. */
async function offersText(context: Context): Promise<string> {
  const words = Buffer.from(await context.io.readInput())
    .toString()
    .split('\n')
    .slice(0, -1)
  const offers = await offersFor(words, context)
  return offers.map((offer) => `${offer}\n`).join('')
}

/** Shells know best how to complete paths. */
const FILES = [':files']
const FOLDERS = [':folders']

async function offersFor(words: readonly string[], { place }: Context): Promise<readonly string[]> {
  const [current = ''] = words.slice(-1)
  const before = words.slice(0, -1)
  const previous = before.at(-1)
  const command: CommandSpec | undefined = before.flatMap(
    (word) => COMMANDS.find(({ name }) => name === word) ?? [],
  )[0]
  const options: readonly OptionSpec[] = [...(command?.options ?? []), ...GLOBAL_OPTIONS]
  const option = options.find(({ name, short }) => previous === `--${name}` || previous === `-${short}`)
  if (option && option.takes !== 'flag') return valuesOf(option, place)
  if (current.startsWith('-')) return options.map(({ name, about }) => `--${name}\t${about}`)
  if (command === undefined) return COMMANDS.map(({ name, summary }) => `${name}\t${summary}`)
  if (command.name === 'completion') return [...SCRIPTS.keys()]
  if (/[<[]id/.test(command.args)) return tasksIn(place)
  return command.args.includes('files') ? FILES : []
}

async function valuesOf(
  { name, takes, value }: OptionSpec,
  place: Context['place'],
): Promise<readonly string[]> {
  if (typeof takes === 'object') return takes
  if (name === 'milestone') {
    const { tasks } = await readFacts(await place(), { facts: ['milestone'] })
    return [...new Set(tasks.flatMap(({ milestone }) => milestone ?? []))].map(printable)
  }
  if (name === 'agent') return AGENT_NAMES
  if (value === 'folder' || value === 'path') return FOLDERS
  return value === 'ids' ? tasksIn(place) : []
}

async function tasksIn(place: Context['place']): Promise<readonly string[]> {
  const { tasks } = await readFacts(await place(), { facts: ['title'] })
  return tasks.map(({ id, title }) => `${id}\t${printable(title)}`)
}

/**
 * The scripts do nothing with an offer but to show and quote it: a milestone may come from anybody. That for bash works
 * from version 3.2 on, which macOS still has; it compares the offers itself, which `compgen -W` would execute.
 */
const SCRIPTS: ReadonlyMap<string, string> = new Map([
  [
    'bash',
    `# ralph completion for bash
_ralph() {
  local offer current=\${COMP_WORDS[COMP_CWORD]}
  local typed=\${current#[\\"\\']}
  COMPREPLY=()
  while IFS=$'\\t' read -r offer _; do
    case $offer in
      :files) COMPREPLY=($(compgen -f -- "$current")); return ;;
      :folders) COMPREPLY=($(compgen -d -- "$current")); return ;;
    esac
    if [[ $offer != "\${typed//\\\\/}"* ]]; then continue; fi
    if [[ $typed == "$current" ]]; then offer=$(printf '%q' "$offer"); fi
    COMPREPLY+=("$offer")
  done < <(printf '%s\\n' "\${COMP_WORDS[@]:1:COMP_CWORD}" | ralph completion offers 2>/dev/null)
}
complete -F _ralph ralph
`,
  ],
  [
    'zsh',
    `#compdef ralph
# ralph completion for zsh
_ralph() {
  local -a offers
  offers=(\${(f)"$(print -rl -- "\${(@)words[2,CURRENT]}" | ralph completion offers 2>/dev/null)"})
  case $offers[1] in
    :files) _files; return ;;
    :folders) _files -/; return ;;
  esac
  offers=(\${offers//:/\\\\:})
  offers=(\${offers//$'\\t'/:})
  _describe -t offers offer offers
}
if [ "$funcstack[1]" = "_ralph" ]; then _ralph "$@"; else compdef _ralph ralph; fi
`,
  ],
  [
    'fish',
    `# ralph completion for fish
function __ralph_offers
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l offers (printf '%s\\n' $words[2..-1] "$current" | ralph completion offers 2>/dev/null)
  switch "$offers[1]"
    case ':files'
      __fish_complete_path "$current"
    case ':folders'
      __fish_complete_directories "$current"
    case '*'
      printf '%s\\n' $offers
  end
end
complete -c ralph -f -a '(__ralph_offers)'
`,
  ],
])
