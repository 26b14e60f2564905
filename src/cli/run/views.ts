import { basename } from 'node:path'
import type { RunEvent } from '../../engine/events/event.ts'
import { openReadingGit } from '../../git/door.ts'
import { patchOf } from '../../history/task-code.ts'
import type { Project } from '../../project/project.ts'
import { openRepository } from '../../project/repository.ts'
import { workUnderWay } from '../../project/slots.ts'
import { runFolder } from '../../engine/folder.ts'
import { readEvents } from '../../screen/read-journal.ts'
import { dim, line } from '../../screen/block.ts'
import { layOut, type Canvas } from '../../screen/layout.ts'
import { RunStory } from '../../screen/run-story.ts'
import type { Io } from '../io.ts'
import { personsPager, showInPager } from '../pager.ts'

/** The views of a task at work; a text says why one is empty. */
export interface RunViews {
  readonly diff: (id: string) => Promise<View | string>
  readonly log: (id: string) => Promise<View | string>
}

/** A text to read. */
interface View {
  readonly show: () => Promise<void>
}

/** The views of the tasks that a run works on, in the person's pager. */
export function runViews(
  io: Io,
  project: Project,
  { run, canvas }: { readonly run: () => string | null; readonly canvas: () => Canvas },
): RunViews {
  const { root } = project
  /** On the alternate screen: nothing of it stays among the lines of the run. */
  const view = async (bytes: Uint8Array, less: string): Promise<View> => {
    const git = openReadingGit({ cwd: root, env: io.env })
    const command = await personsPager(io, git)
    return {
      show: () =>
        showInPager({ cwd: io.cwd, stdout: io.stdout, env: { LESS: less, ...io.env } }, command, bytes),
    }
  }
  return {
    async diff(id) {
      const work = await workUnderWay(io, project, id)
      if (!work) return `no work at ${id} is under way`
      const git = openReadingGit({ cwd: work.folder, env: io.env })
      const patch = await patchOf(git, { kind: 'work', from: work.base, to: null }, canvas().colour)
      return patch.length === 0 ? `${id} has changed nothing yet` : view(patch, 'R')
    },
    async log(id) {
      const name = run()
      const { repository } = await openRepository(io, root)
      const { logs } = runFolder(root, repository)
      const events = name === null ? [] : lastAttempt(readEvents(logs, name), id)
      const [first] = events
      if (first?.type !== 'attempt-started') return `no attempt at ${id} has begun`
      const story = new RunStory({ steps: true })
      const head = line(
        dim(`${id}, attempt ${first.attempt}; all of it is in .ralph/logs/${basename(first.log)}`),
      )
      const blocks = [head, ...events.flatMap((event) => story.show(event))]
      // The pager scrolls sideways, so lines stay whole.
      return view(Buffer.from(layOut(blocks, { ...canvas(), columns: null })), 'R+G')
    },
  }
}

/** The events of the last attempt at that task. */
function lastAttempt(events: Iterable<RunEvent>, id: string): readonly RunEvent[] {
  let found: RunEvent[] = []
  for (const event of events) {
    if (!('id' in event) || event.id !== id) continue
    if (event.type === 'attempt-started') found = []
    found.push(event)
  }
  return found
}
