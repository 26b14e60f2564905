import type { Project } from '../../config/project.ts'
import type { Control } from '../../engine/control.ts'
import { runFolder } from '../../engine/folder.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import type { RunOptions, RunPorts } from '../../engine/ports.ts'
import { openRepository, readHistory } from '../../git/open-repository.ts'
import { readCompletions } from '../../history/completions.ts'
import type { ProcessEnd } from '../../process/start.ts'
import { keepTerminalModes, type Borrower, type PersonTerminal } from '../../process/terminal.ts'
import type { Terminal } from '../../screen/full/screen.ts'
import { readEvents } from '../../screen/read-journal.ts'
import { KEEP_TITLE, TITLE_BACK, USUAL_MODES } from '../../screen/style.ts'
import { canvasFor, type Context } from '../command.ts'
import type { Io } from '../io.ts'
import type { ownScreen } from './full-screen.ts'
import { runKeys } from './keys.ts'
import type { LineShow } from './show-run.ts'

/** A run in this process, and the terminal for its full screen; null if there is none. */
interface OwnRun {
  readonly project: Project
  readonly options: RunOptions
  readonly control: Control
  readonly terminal: Terminal | null
}

/**
 * Shows a run in this process as lines with keys, or in the full screen, which is loaded when it is first opened.
 * Meanwhile the lines collect their output. A question is answered in the full screen through the control, or in the
 * lines after it is left.
 */
export function showOwnRun(context: Context, lines: LineShow, own: OwnRun) {
  const { io } = context
  const { control, terminal } = own
  const { reporter } = lines
  const lent = openPersonTerminal(io, lines, terminal)
  let keys: ReturnType<typeof runKeys> | null = null
  let screen: Awaited<ReturnType<typeof ownScreen>> | null = null
  /** Resolves when the lines are visible again; null while they are. */
  let shown: Promise<void> | null = null
  const isElsewhere = (): boolean => shown !== null
  let isOver = false
  const show = async (on: Terminal): Promise<void> => {
    const release = reporter.hold()
    try {
      screen ??= await makeScreen(on)
      if (!isOver) await screen.show()
    } finally {
      release()
      shown = null
    }
  }
  /** No event may come between the last one that is read of the past and the first that the screen gets. */
  const makeScreen = async (on: Terminal) => {
    const { root } = own.project
    const full = await import('./full-screen.ts')
    const { repository } = await openRepository(io, root)
    screen = await full.ownScreen(context, { ...own, terminal: on })
    const { status } = reporter
    screen.begin(status ? readEvents(runFolder(root, repository).logs, status.run) : [])
    return screen
  }
  const full =
    terminal &&
    (() => {
      shown ??= show(terminal)
      // An error of the screen does not end a run: its lines continue.
      shown.catch((error: unknown) => lines.warn(`the full screen could not be shown: ${String(error)}`))
    })
  const ask: RunPorts['ask'] =
    lines.ask &&
    (async (question, over) => {
      // The lines ask once the screen is left, unless the question is over before.
      const ends = AbortSignal.any([over, control.signal])
      const end = new Promise<void>((resolve) => ends.addEventListener('abort', () => resolve()))
      while (isElsewhere() && !ends.aborted) await Promise.race([shown, end])
      return ends.aborted ? null : lines.ask!(question, over)
    })
  return {
    ...lines,
    /** Shows the full screen in place of the lines, until a person returns to them; null if there is none. */
    full,
    /** The terminal in which a person can drive an agent; null if nobody is at a terminal. */
    lent,
    event: (event: RunEvent): void => {
      screen?.event(event)
      lines.event(event)
      keys?.event(event)
      if (event.type !== 'run-started' || !lines.isLive) return
      keys = openKeys(context, lines, { ...own, full, lent })
      terminal?.focus()
      void setPace(io, lines, own)
    },
    ask,
    end: async () => {
      isOver = true
      screen?.end()
      await shown
      await keys?.end()
      await lines.end()
    },
  }
}

/** Listens to the keys of the lines; null without a keyboard. */
function openKeys(
  { io, options: { noColor } }: Context,
  { reporter }: LineShow,
  {
    project,
    options,
    control,
    full,
    lent,
  }: OwnRun & { readonly full: (() => void) | null; readonly lent: PersonTerminal | null },
) {
  const keyboard = io.keyboard()
  if (keyboard === null) return null
  return runKeys({
    keyboard,
    reporter,
    control,
    async open(what, id, lend) {
      const { openOutside } = await import('./task-material.ts')
      const { colour } = canvasFor(io.stdout, io.env, noColor)
      const place = { io, place: project, run: () => reporter.status?.run ?? null, colour }
      return openOutside(place, what, { id, file: '', lend })
    },
    pushes: options.push,
    full,
    canTakeOver: lent !== null,
    leaving: leaving(io.env),
  })
}

/** How to leave the run: it ends with its terminal, so only a terminal that is kept for later can be left. */
function leaving({ TMUX, STY }: Io['env']): string {
  if (TMUX) return 'to leave it running, detach from tmux'
  if (STY) return 'to leave it running, detach from screen'
  return 'it needs this terminal: to leave a run going, start it in tmux or screen'
}

/** Older tasks say little about the next one. */
const MOST_TASKS = 50

/** Tells the lines how long the last tasks took here, from git alone; it is looked up after the first lines are drawn. */
async function setPace(io: Io, { reporter }: LineShow, { project, options }: OwnRun): Promise<void> {
  const { root, vocabulary, config } = project
  const { subject } = config.commit
  // Without git a run has no estimate, and works all the same.
  const completions = await readHistory(io, root, (git) =>
    readCompletions(git, { vocabulary, subject }),
  ).catch(() => [])
  const seconds = completions.flatMap((completion) => (completion.byRalph ? (completion.seconds ?? []) : []))
  reporter.pace({
    durations: seconds.slice(0, MOST_TASKS).toReversed(),
    most: options.loop ? (options.maxTasks ?? Infinity) : 1,
  })
}

/**
 * The terminal of a run, which a person's program can have as a whole, while lines and full screen are hidden; null if
 * nobody is at a terminal, or if nothing can be drawn on it.
 */
function openPersonTerminal(
  io: Io,
  { reporter }: LineShow,
  terminal: Terminal | null,
): PersonTerminal | null {
  const keyboard = io.keyboard()
  const { columns } = io.stdout
  if (keyboard === null || io.dialogue() === null || columns === null) return null
  const write = (text: string): void => io.stdout.write(text)
  const handOver = async ({ start, task, name, folder }: Borrower): Promise<ProcessEnd> => {
    const release = reporter.hold()
    const takeBack = keyboard.pause('program')
    const restoreModes = keepTerminalModes(io.env)
    const restore = (): void => {
      restoreModes()
      write(USUAL_SCREEN + USUAL_MODES + TITLE_BACK + freshLine(io.stdout.columns ?? columns))
    }
    const forget = io.atExit(restore)
    write(
      `${KEEP_TITLE}\u001b[2m${task} · ${name} · in ${folder} · ralph continues when you exit it\u001b[0m\r\n`,
    )
    try {
      return await start('handed-over').finished
    } finally {
      forget()
      restore()
      takeBack()
      release()
    }
  }
  let before: Promise<unknown> = Promise.resolve()
  return {
    lend(borrower) {
      const work = (): Promise<ProcessEnd> => handOver(borrower)
      const mine = before.then(() => (terminal ? terminal.lend(work) : work()))
      before = mine.catch(() => undefined)
      return mine
    },
  }
}

/** Leaves the alternate screen, if a program has not; does nothing on the usual one. */
const USUAL_SCREEN = '\u001b[?1047l'

/** Moves to the start of an empty line: this one if the cursor is at its start, else the next, which these blanks reach. */
function freshLine(columns: number): string {
  return `${' '.repeat(columns - 1)}\r\u001b[J`
}
