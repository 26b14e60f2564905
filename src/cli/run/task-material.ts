import { join } from 'node:path'
import { runFolder } from '../../engine/folder.ts'
import { openReadingGit } from '../../git/door.ts'
import { listRecords } from '../../git/record.ts'
import { patchOf } from '../../history/task-code.ts'
import { edit, namedEditor, page } from '../../process/pager.ts'
import type { Place } from '../../config/project.ts'
import { openRepository, unlessGitIsMissing } from '../../git/open-repository.ts'
import { sectionOf } from '../../backlog/model.ts'
import { readTask } from '../../backlog/read.ts'
import { attemptList } from '../../screen/show-view.ts'
import { bad, dim, good, headed, line, paragraph, section, strong, type Block } from '../../screen/block.ts'
import type { BoardTask } from '../../screen/full/board.ts'
import { linesIn } from '../../screen/full/model.ts'
import type { Lend } from '../../screen/full/screen.ts'
import type { Tab } from '../../screen/full/keys.ts'
import { layOut } from '../../screen/layout.ts'
import { readEvents } from '../../screen/read-journal.ts'
import { RunStory } from '../../screen/run-story.ts'
import type { Io } from '../io.ts'
import { codeOf, personsPager } from '../task-code.ts'

/** Where the material of a run's tasks comes from. */
interface MaterialPlace {
  readonly io: Io
  readonly place: Place
  /** The id of the run; null before it has begun. */
  readonly run: () => string | null
  readonly colour: boolean
}

/** The content of a tab for a task: from its file, from git, from the run's journal. A text says why there is none. */
const TABS = {
  diff: diffBlocks,
  log: logBlocks,
  attempts: attemptBlocks,
  notes: noteBlocks,
} satisfies Record<
  Exclude<Tab, 'activity'>,
  (at: MaterialPlace, task: BoardTask) => Promise<readonly Block[] | string>
>

/** The content of a tab for a task. */
export async function materialOf(
  at: MaterialPlace,
  task: BoardTask,
  tab: keyof typeof TABS,
): Promise<readonly Block[]> {
  const found = await TABS[tab](at, task)
  return typeof found === 'string' ? [line(dim(found))] : found
}

/** Opens it in the person's own program, which has the terminal meanwhile; returns a message about that. */
export async function openOutside(
  at: MaterialPlace,
  what: 'diff' | 'log' | 'file',
  { id, file, lend }: Pick<BoardTask, 'id' | 'file'> & { readonly lend: Lend },
): Promise<string> {
  const { env } = at.io
  const cwd = at.place.root
  if (what === 'file') {
    const command = namedEditor(env) ?? 'vi'
    const isShown = await lend(() => edit(join(cwd, file), { command, cwd, env }))
    return isShown ? '' : `${command} could not be started: EDITOR names the program`
  }
  const found = what === 'diff' ? await diffOf(at, { id }) : await logBlocks(at, { id })
  if (typeof found === 'string') return found
  const bytes =
    found instanceof Uint8Array ? found : Buffer.from(layOut(found, { columns: null, colour: at.colour }))
  const command = await personsPager(at.io, openReadingGit({ cwd, env }))
  if (command === null) return 'no pager is set'
  // The pager scrolls sideways, so lines stay whole; a short text stays until the person leaves it.
  const less = `${env['LESS'] ?? (what === 'log' ? 'R+G' : 'R')} -+F -+X`
  const isShown = await lend(() => page(bytes, { command, cwd, env: { ...env, LESS: less } }))
  return isShown ? '' : `${command} could not be started`
}

/** The code of a task so far. */
async function diffOf(
  { io, place, colour }: MaterialPlace,
  { id }: Pick<BoardTask, 'id'>,
): Promise<Buffer | string> {
  const found = await codeOf(io, place, id)
  const patch = found && (await patchOf(found.git, found.code, colour))
  if (patch === null) return `there is no code of ${id} yet`
  return patch.length === 0 ? `${id} has changed nothing yet` : patch
}

/** A longer diff is for the pager. */
const MOST_DIFF_LINES = 5000
const MOST_DIFF_BYTES = 2 * 1024 * 1024

async function diffBlocks(at: MaterialPlace, task: BoardTask): Promise<readonly Block[] | string> {
  const bytes = await diffOf({ ...at, colour: false }, task)
  if (typeof bytes === 'string') return bytes
  const lines = bytes.toString('utf8', 0, MOST_DIFF_BYTES).split('\n', MOST_DIFF_LINES + 1)
  const more = lines.length > MOST_DIFF_LINES ? [line(dim('… d shows all of it'))] : []
  return [...lines.slice(0, MOST_DIFF_LINES).flatMap(linesIn).map(diffLine), ...more]
}

function diffLine(text: string): Block {
  if (/^(?:diff |\+\+\+|---)/.test(text)) return line(strong(text))
  if (text.startsWith('+')) return line(good(text))
  if (text.startsWith('-')) return line(bad(text))
  return line(text.startsWith('@@') ? dim(text) : text)
}

/** What the agent has done in its last attempt at a task. */
async function logBlocks(
  { io, place, run }: MaterialPlace,
  { id }: Pick<BoardTask, 'id'>,
): Promise<readonly Block[] | string> {
  const { repository } = await openRepository(io, place.root)
  const name = run()
  const events = name === null ? [] : readEvents(runFolder(place.root, repository).logs, name)
  const own = [...events].filter((event) => 'id' in event && event.id === id)
  const last = own.slice(own.findLastIndex(({ type }) => type === 'attempt-started'))
  const [first] = last
  if (first?.type !== 'attempt-started') return `no attempt at ${id} has begun`
  const story = new RunStory({ steps: true })
  const head = line(dim(`${id}, attempt ${first.attempt}; all of it is in ${first.log}`))
  return [head, ...last.flatMap((event) => story.show(event))]
}

async function attemptBlocks(
  { io, place }: MaterialPlace,
  { id }: BoardTask,
): Promise<readonly Block[] | string> {
  const git = openReadingGit({ cwd: place.root, env: io.env })
  const records = await unlessGitIsMissing(listRecords(git, id), [])
  return records.length > 0 ? attemptList(records).slice(1) : 'no attempt is kept'
}

const NOTES = ['Blocked', 'Comments', 'Completion Notes', 'Previous Attempts', 'Description'] as const

/** The notes of people and agents in the file, which a person looks for first. */
async function noteBlocks({ place }: MaterialPlace, { file }: BoardTask): Promise<readonly Block[]> {
  const task = await readTask(place.root, file, place.vocabulary)
  const shown = NOTES.flatMap((name) => {
    const span = sectionOf(task, name)?.bodySpan
    const text = span ? task.source.slice(span.start, span.end).trim() : ''
    return text === '' ? [] : section(name, text.split('\n').flatMap(linesIn).map(noteLine))
  })
  return [...shown.slice(1), ...section('', [line(dim(file))])]
}

function noteLine(text: string): Block {
  return headed([/^ */.exec(text)?.[0] ?? ''], paragraph([], text))
}
