import { platform } from 'node:os'
import { startProcess } from '../process/start.ts'
import type { GateContext } from './run.ts'

/** The first program of a gate that its shell does not find; null where all are there, or it is not plain what they are. */
export async function missingProgram(
  command: string,
  { cwd, env }: Pick<GateContext, 'cwd' | 'env'>,
): Promise<string | null> {
  // Gates run in cmd.exe there, which has no way to ask for a word of its own.
  if (platform() === 'win32') return null
  for (const program of programsOf(command)) {
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
