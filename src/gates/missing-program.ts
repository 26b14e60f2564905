import { existsSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { startProcess } from '../process/start.ts'
import type { GateContext } from './run.ts'

/**
 * The first program of a gate that its shell does not find, or that the script of package.json does not which it runs:
 * that one as the path at which its packages would have it. Null where all are there, or it is not plain what they are.
 */
export async function missingProgram(
  command: string,
  where: Pick<GateContext, 'cwd' | 'env'>,
): Promise<string | null> {
  // Gates run in cmd.exe there, which has no way to ask for a word of its own.
  if (platform() === 'win32') return null
  const missing = await missingOf(programsOf(command), where)
  if (missing !== null) return missing
  const { cwd, env } = where
  // Yarn may have its packages in archives, and finds what they bring by itself.
  const script = existsSync(join(cwd, '.pnp.cjs')) ? null : scriptOf(command, cwd)
  if (script === null) return null
  const PATH = [...binFolders(cwd), env['PATH'] ?? ''].join(delimiter)
  const inside = await missingOf(programsOf(script), { cwd, env: { ...env, PATH } })
  return inside === null || inside.includes('/') ? inside : `${PACKAGES}/${inside}`
}

/** Where the programs of a project's packages are. */
export const PACKAGES = 'node_modules/.bin'

/** What `npm test`, `pnpm lint` and the like run; null where the command is none of these. */
function scriptOf(command: string, cwd: string): string | null {
  const name = (NPM.exec(command) ?? OTHERS.exec(command))?.[1]
  if (name === undefined) return null
  try {
    const read: unknown = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
    const scripts = typeof read === 'object' && read !== null && 'scripts' in read ? read.scripts : null
    const script = Object.entries(scripts ?? {}).find(([key]) => key === name)?.[1]
    return typeof script === 'string' ? script : null
  } catch {
    return null
  }
}

const NPM = /^npm (?:(?=test\b)|run(?:-script)? )([\w:.-]+)(?=\s|$)/
const OTHERS = /^(?:(?:pnpm|yarn) (?:run )?|bun run )([\w:.-]+)(?=\s|$)/

/** That of the folder and of all that it lies in, as npm looks for them. */
function binFolders(folder: string): readonly string[] {
  const parent = dirname(folder)
  return [join(folder, PACKAGES), ...(parent === folder ? [] : binFolders(parent))]
}

async function missingOf(
  programs: readonly string[],
  { cwd, env }: Pick<GateContext, 'cwd' | 'env'>,
): Promise<string | null> {
  for (const program of programs) {
    const asked = startProcess(
      { shell: `command -v ${program}` },
      { cwd, env, onOutput: () => undefined, killAfterSeconds: 1 },
    )
    const end = await asked.finished
    if (end.kind === 'exited' && end.code !== 0) return program
  }
  return null
}

/** Where a program may be missing, or be found elsewhere than here. */
const NOTHING_PLAIN = /\|\||\bPATH=/
/** Behind these it takes a shell to say what is a word, and where it is looked for. */
const ONLY_FIRST = /[`'"\\(){}<>#$]|(?:^|[;&|])\s*(?:\.|source|eval|export)\s/
const ASSIGNMENTS = /^(?:[A-Za-z_]\w*=\S*\s+)*/
const WORD = /^[\w./+@][\w./+@-]*(?=\s|$)/

/** The words that a command begins with, and what stands behind each `&&`, `;` and `|` of it. */
function programsOf(command: string): readonly string[] {
  if (NOTHING_PLAIN.test(command)) return []
  const [first = '', ...others] = command
    .trim()
    .split(/&&|[;|\n]/)
    .map(wordOf)
  // A path is meant from the folder that a `cd` before it went to.
  const plain = ONLY_FIRST.test(command) ? [] : others.filter((program) => !program.includes('/'))
  return [first, ...plain].filter((program) => program !== '')
}

function wordOf(part: string): string {
  return WORD.exec(part.trim().replace(ASSIGNMENTS, ''))?.[0] ?? ''
}

const NAME = '[\\w./+@-]+'
/** What shells, make, env and yarn say of a program that they do not find. */
const COMPLAINTS = [
  // dash and busybox, bash: `sh: 1: vitest: not found`, `sh: line 1: vitest: command not found`
  `(?:[\\w./-]*sh|[^\\s:]+):(?: (?:line )?\\d+:)? (${NAME}): (?:command )?not found`,
  `(?:zsh:\\d+: )?command not found: (${NAME})`,
  `make(?:\\[\\d+\\])?: (${NAME}): No such file or directory`,
  `(?:/usr/bin/)?env: [‘'"]?(${NAME})[’'"]?: No such file or directory`,
].map((pattern) => new RegExp(`^${pattern}$`))
/** What the programs in between pass on of it: make, npm, pnpm and yarn among them. */
const PASSED_ON = /\b(?:Error|code|status) 127\b|\bspawn ENOENT\b/

/**
 * The program that a gate could not start, as the last lines of its output have it; null where it failed for another
 * reason. Another exit code than the shell's own says so only where whoever stands in between passes that one on.
 */
export function missingIn(output: string, code: number | null): string | null {
  if (code === 0 || code === null) return null
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .slice(-MOST_AFTER)
  const at = lines.findLastIndex((line) => namedIn(line) !== null)
  if (at === -1 || (code !== 127 && !lines.slice(at + 1).some((line) => PASSED_ON.test(line)))) return null
  return namedIn(lines[at]!)
}

/** npm and its like have their own say after it. */
const MOST_AFTER = 20

function namedIn(line: string): string | null {
  for (const complaint of COMPLAINTS) {
    const name = complaint.exec(line)?.[1]
    if (name !== undefined) return name
  }
  return null
}
