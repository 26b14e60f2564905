import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { openPty, type Pty } from '../../src/process/terminal.ts'
import { startProcess, type Running } from '../../src/process/start.ts'
import { openScreen, type Screen } from '../ui/screen.ts'

/** The program as it is built. */
export const DIST = fileURLToPath(new URL('../../dist', import.meta.url))

/** A machine that has much else to do may take so long. */
const PATIENCE_MS = 20_000

type Environment = Readonly<Record<string, string | undefined>>

/** A person at a terminal in which ralph runs. */
export interface Person {
  readonly screen: Screen
  readonly pty: Pty
  readonly running: Running
  readonly type: (text: string) => void
  /** Resolves at its end, which is to have that exit code. */
  readonly endsWith: (code: number) => Promise<void>
  /** Resolves once that was printed, after what was seen before. */
  readonly sees: (text: string) => Promise<void>
  /** Resolves once the screen holds that, however it came there. */
  readonly shows: (text: string) => Promise<void>
}

const open = new Set<Running>()

/** Ends what a test has left. */
export async function everybodyLeaves(): Promise<void> {
  for (const running of open) {
    running.end('now')
    await running.finished
  }
}

/** Has a person start ralph at a terminal. */
export async function sitAt(
  args: readonly string[],
  {
    cwd,
    env,
    dist = DIST,
    patienceMs = PATIENCE_MS,
  }: {
    readonly cwd: string
    readonly env: Environment
    readonly dist?: string
    readonly patienceMs?: number
  },
): Promise<Person> {
  const [columns, rows] = [90, 24]
  const pty = await openPty({ columns, rows })
  if ('problem' in pty) throw new Error(pty.problem)
  const screen = openScreen(columns, rows)
  const waiting = new Set<() => void>()
  let [printed, seen] = ['', 0]
  const running = startProcess(
    { program: process.execPath, args: [join(dist, 'bin.cjs'), ...args] },
    {
      cwd,
      env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      terminal: pty,
      onOutput: (chunk) => {
        screen.write(chunk)
        printed += Buffer.from(chunk).toString()
        for (const look of waiting) look()
      },
      killAfterSeconds: 3,
    },
  )
  screen.onData((text) => void pty.stream.write(text))
  open.add(running)
  void running.finished.then(() => open.delete(running))
  /** Asks after each output, until it is so. */
  const until = (text: string, isThere: () => Promise<boolean>): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = async (): Promise<void> => {
        if (!waiting.has(looking) || !(await isThere())) return
        waiting.delete(looking)
        clearTimeout(patience)
        resolve()
      }
      const looking = (): void => void look()
      const giveUp = (frame: readonly string[]): void =>
        reject(new Error(`"${text}" is not there:\n${frame.join('\n')}`))
      const patience = setTimeout(() => void screen.frame().then(giveUp), patienceMs)
      waiting.add(looking)
      looking()
    })
  const sees = (text: string): Promise<void> =>
    until(text, async () => {
      const at = stripVTControlCharacters(printed).indexOf(text, seen)
      if (at >= 0) seen = at + text.length
      return at >= 0
    })
  const shows = (text: string): Promise<void> =>
    until(text, async () => (await screen.frame()).join('\n').includes(text))
  const endsWith = async (code: number): Promise<void> => {
    const end = await running.finished
    if (end.kind === 'exited' && end.code === code) return
    throw new Error(`${JSON.stringify(end)}:\n${(await screen.allLines()).join('\n')}`)
  }
  return { endsWith, screen, pty, running, type: (text) => void pty.stream.write(text), sees, shows }
}
