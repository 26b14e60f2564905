import { openRepository } from '../../git/open-repository.ts'
import { runFolder } from '../../engine/folder.ts'
import { readEvents } from '../../screen/read-journal.ts'
import type { Context } from '../command.ts'
import type { OwnRun, ownScreen } from './full-screen.ts'
import type { LineShow, Show } from './show-run.ts'

/** Shows a run as lines or in the full screen, and asks its questions in the visible one. */
export interface Stage extends Show {
  /** Shows the full screen in place of the lines, until a person returns to them. */
  readonly open: () => void
}

/**
 * The lines of a run, with a full screen that is loaded when it is first opened. Meanwhile the lines collect their
 * output and write it afterwards. A question is answered in the full screen through the control, or in the lines after
 * it is left.
 */
export function stageOf(context: Context, lines: LineShow, own: OwnRun): Stage {
  const { control } = own
  let screen: Awaited<ReturnType<typeof ownScreen>> | null = null
  /** Resolves when the lines are visible again; null while they are. */
  let shown: Promise<void> | null = null
  const isElsewhere = (): boolean => shown !== null
  let isOver = false
  const show = async (): Promise<void> => {
    const release = lines.reporter.hold()
    try {
      screen ??= await makeScreen()
      if (!isOver) await screen.show()
    } finally {
      release()
      shown = null
    }
  }
  /** No event may come between the last one that is read of the past and the first that the screen gets. */
  const makeScreen = async () => {
    const { root } = own.project
    const full = await import('./full-screen.ts')
    const { repository } = await openRepository(context.io, root)
    const { logs } = runFolder(root, repository)
    screen = await full.ownScreen(context, own)
    const { status } = lines.reporter
    screen.begin(status ? readEvents(logs, status.run) : [])
    return screen
  }
  const open = (): void => {
    shown ??= show()
    // An error of the screen does not end a run: its lines continue.
    shown.catch((error: unknown) => lines.warn(`the full screen could not be shown: ${String(error)}`))
  }
  return {
    ...lines,
    open,
    event(event) {
      screen?.event(event)
      lines.event(event)
      // From here on the lines handle keys.
      if (event.type === 'run-started') own.terminal.focus()
    },
    ask:
      lines.ask &&
      (async (question, over) => {
        // The lines ask once the screen is left, unless the question is over before.
        const ends = AbortSignal.any([over, control.signal])
        const end = new Promise<void>((resolve) => ends.addEventListener('abort', () => resolve()))
        while (isElsewhere() && !ends.aborted) await Promise.race([shown, end])
        return ends.aborted ? null : lines.ask!(question, over)
      }),
    async end() {
      isOver = true
      screen?.end()
      await shown
      await lines.end()
    },
  }
}
