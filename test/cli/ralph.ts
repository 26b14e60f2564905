import { main } from '../../src/cli/main.ts'
import type { Io } from '../../src/cli/io.ts'
import { env as person } from '../repository.ts'

export interface Answer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Situation {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** The width of the terminal; without one both streams are pipes. */
  readonly columns?: number
  readonly now?: Date
  /** How the program starts itself anew. */
  readonly self?: Io['self']
  /** What comes in on standard input. */
  readonly input?: string
}

/** Runs a command in a folder, for a person whom git knows. */
export const by = (cwd: string, ...argv: readonly string[]): Promise<Answer> =>
  ralph(argv, { cwd, env: person })

/** The document that a command prints. */
// oxlint-disable-next-line typescript/no-explicit-any
export const jsonOf = async (cwd: string, ...argv: readonly string[]): Promise<any> =>
  JSON.parse((await by(cwd, ...argv, '--json')).stdout)

/** How a command refuses: its exit code, and the first line of what it says. */
export async function refusalOf(answer: Promise<Answer>): Promise<readonly [number, string | undefined]> {
  const { code, stderr } = await answer
  return [code, stderr.split('\n')[0]]
}

/** Runs the whole program in this process, in a world that the test decides. */
export async function ralph(
  argv: readonly string[],
  { cwd, env = {}, columns, now, self = ['ralph'], input = '' }: Situation,
): Promise<Answer> {
  const [stdout, stderr] = [outlet(columns), outlet(columns)]
  const io: Io = {
    argv,
    cwd,
    // The sandbox has tests of its own: where it works or not, all others do the same.
    env: { RALPH_SANDBOX: 'off', XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'], ...env },
    self,
    pid: process.pid,
    stdout,
    stderr,
    readInput: async () => Buffer.from(input),
    dialogue: () => null,
    keyboard: () => null,
    atExit: () => () => undefined,
    runLog: { path: null },
    pipes: () => null,
    now: () => now ?? new Date(2025, 0, 15, 14, 30),
    signal: new AbortController().signal,
    urgent: new AbortController().signal,
  }
  const code = await main(io)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

function outlet(columns: number | undefined): Io['stdout'] & { text: () => string } {
  const written: string[] = []
  return {
    columns: columns ?? null,
    rows: columns === undefined ? null : 24,
    onResize: () => () => undefined,
    isWritten: true,
    write: (text) => void written.push(typeof text === 'string' ? text : Buffer.from(text).toString()),
    text: () => written.join(''),
  }
}
