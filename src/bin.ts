import { openDialogue, type Dialogue, type Io, createOutlet } from './cli/io.ts'
import { openKeyboard, type OpenKeyboard } from './cli/keyboard.ts'
import { UserError } from './base/errors.ts'
import { main, reportError } from './cli/main.ts'
import { isForeground } from './process/foreground.ts'

let interrupts: { readonly first: AbortController; readonly second: AbortController } | undefined

/** Takes Ctrl-C over from Node, once a command wants to hear of it. */
function listen(): NonNullable<typeof interrupts> {
  if (interrupts) return interrupts
  const made = { first: new AbortController(), second: new AbortController() }
  process.on('SIGINT', () => keyboard?.isLent() || interrupt()).on('SIGTERM', interrupt)
  // A person who closes the terminal does not want an agent to continue alone. Without a terminal, as under nohup,
  // the run continues: Node itself has undone what nohup set.
  const { isatty } = process.getBuiltinModule('node:tty')
  const hasTerminal = [0, 1, 2].some((fd) => isatty(fd))
  process.on('SIGHUP', () => hasTerminal && made.first.abort('interrupt'))
  interrupts = made
  return made
}

function interrupt(): void {
  const { first, second } = listen()
  if (!first.signal.aborted) first.abort('interrupt')
  else if (!second.signal.aborted) second.abort('now')
  else process.exit(130)
}

/** Why a run's output was lost; shown when the run has ended. */
let loss: UserError | null = null

/** The output is lost: a run ends in order, as at Ctrl-C; other commands just end. */
function onLost(error: UserError | null): void {
  if (interrupts) {
    loss ??= error
    interrupts.first.abort('interrupt')
  } else void end(error && { error })
}

/** An error in ralph itself; shown when work under way has ended in order. */
let bug: { readonly error: unknown } | null = null
/** Longer than ending an unwilling agent takes. */
const IN_ORDER_MS = 20_000

let patience: NodeJS.Timeout | undefined

/** Nothing is certain any more: a run ends as at Ctrl-C, or if it does not, at once. */
function onBug(error: unknown): void {
  if (bug) return
  const found = { error }
  bug = found
  if (!interrupts) return void end(found)
  interrupts.first.abort('interrupt')
  patience = setTimeout(() => void end(found), IN_ORDER_MS)
}

process.on('uncaughtException', onBug)

/** Functions that leave the terminal as it was found. */
const lastWorks = new Set<() => void>()

function doLastWorks(): void {
  for (const work of lastWorks) work()
}

process.on('exit', doLastWorks)

async function end(wrong: { readonly error: unknown } | null): Promise<void> {
  // This output must be on the screen that remains.
  doLastWorks()
  process.exit(wrong ? await reportError(wrong.error, io).catch(() => 2) : 0)
}

/** The current folder may have been removed, for example a worktree. */
function startFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw new UserError('the folder that ralph was started in is gone', 'Change to one that is there.')
  }
}

let dialogue: Dialogue | null = null
let keyboard: OpenKeyboard | null = null

/** The keyboard, if a person is at a terminal that can be drawn on. */
function theKeyboard(): OpenKeyboard | null {
  if (keyboard || !process.stdin.isTTY || !process.stdout.isTTY || process.env['TERM'] === 'dumb')
    return keyboard
  keyboard = openKeyboard(process.stdin, {
    interrupt,
    // Stops the whole group, as the terminal does: the process that started ralph stops too.
    suspend: process.platform === 'win32' ? null : () => void process.kill(0, 'SIGTSTP'),
    quit: () => void process.kill(process.pid, 'SIGQUIT'),
    onStop: (listener) =>
      void process.on('SIGTSTP', () => {
        listener()
        process.kill(process.pid, 'SIGSTOP')
      }),
    onContinue: (listener) => void process.on('SIGCONT', listener),
    isForeground: () => isForeground(process.pid),
    clock: () => performance.now(),
  })
  return keyboard
}

const io: Io = {
  argv: process.argv.slice(2),
  get cwd() {
    return startFolder()
  },
  env: process.env,
  self: [process.execPath, ...process.argv.slice(1, 2)],
  pid: process.pid,
  stdout: createOutlet({ fd: 1, open: () => process.stdout, onLost }),
  stderr: createOutlet({ fd: 2, open: () => process.stderr, onLost }),
  readInput: async () => Buffer.concat(await process.stdin.toArray()),
  dialogue: () => (dialogue ??= openDialogue(process.stdin, process.stderr)),
  keyboard: theKeyboard,
  atExit: (work) => {
    const own = (): void => work()
    lastWorks.add(own)
    return () => void lastWorks.delete(own)
  },
  runLog: { path: null },
  pipes: () => (process.stdin.isTTY ? null : { input: process.stdin, output: process.stdout }),
  now: () => new Date(),
  get signal() {
    return listen().first.signal
  },
  get urgent() {
    return listen().second.signal
  },
}

async function start(): Promise<void> {
  const code = await main(io)
  clearTimeout(patience)
  const wrong = bug ?? (loss && { error: loss })
  process.exitCode = wrong ? await reportError(wrong.error, io) : code
  // All that remains of a short command is memory, which the system frees faster than the engine.
  if (!interrupts && io.stdout.isWritten && io.stderr.isWritten) process.exit()
}

void start()
