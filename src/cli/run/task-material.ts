import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { openReadingGit } from '../../git/door.ts'
import { listRecords } from '../../git/record.ts'
import { patchOf } from '../../history/task-code.ts'
import { edit, editorCommand, page } from '../../process/pager.ts'
import type { Place } from '../../project/project.ts'
import { sectionOf } from '../../backlog/model.ts'
import { readTask } from '../../backlog/read.ts'
import type { BoardTask } from '../../screen/full/board.ts'
import { linesIn, type RunModel } from '../../screen/full/model.ts'
import type { Lend } from '../../screen/full/screen.ts'
import type { Tab } from '../../screen/full/state.ts'
import { attemptList } from '../../screen/attempts-view.ts'
import { bad, BLANK, dim, good, line, paragraph, strong, type Block } from '../../screen/block.ts'
import { unlessGitIsMissing } from '../../project/repository.ts'
import type { Io } from '../io.ts'
import { personsPager } from '../pager.ts'
import { codeOf } from '../task-code.ts'

/** Where the contents of the tabs come from. */
export interface MaterialPlace {
  readonly io: Io
  readonly place: Place
  readonly model: RunModel
  readonly colour: boolean
}

/** The content of a tab for a task: from its file, from git, from its log. */
export async function materialOf(
  at: MaterialPlace,
  task: BoardTask,
  tab: Exclude<Tab, 'activity'>,
): Promise<readonly Block[]> {
  switch (tab) {
    case 'diff':
      return diffBlocks(at, task)
    case 'log':
      return logBlocks(at, task)
    case 'attempts':
      return attemptBlocks(at, task)
    case 'notes':
      return noteBlocks(at, task)
  }
}

/** Opens it in the person's own program, which has the terminal meanwhile; returns a message about that. */
export async function openOutside(
  at: MaterialPlace,
  {
    what,
    task,
    lend,
  }: { readonly what: 'diff' | 'log' | 'file'; readonly task: BoardTask; readonly lend: Lend },
): Promise<string> {
  const { env } = at.io
  const cwd = at.place.root
  if (what === 'file') {
    const command = editorCommand(env)
    const isShown = await lend(() => edit(join(cwd, task.file), { command, cwd, env }))
    return isShown ? '' : `${command} could not be started: EDITOR names the program`
  }
  const bytes = what === 'diff' ? await patch(at, task, at.colour) : readEnd(logOf(at, task), MOST_LOG_BYTES)
  if (bytes === null || bytes.length === 0) return what === 'diff' ? NO_CODE(task.id) : NO_LOG(task.id)
  const command = await personsPager(at.io, openReadingGit({ cwd, env }))
  if (command === null) return 'no pager is set: the tabs show it too'
  // With these options a short text stays until the person leaves it.
  const less = `${env['LESS'] ?? 'R'} -+F -+X`
  const isShown = await lend(() => page(bytes, { command, cwd, env: { ...env, LESS: less } }))
  return isShown ? '' : `${command} could not be started`
}

const NO_CODE = (id: string): string => `there is no code of ${id} yet`
const NO_LOG = (id: string): string => `there is no log of ${id} here`

async function patch({ io, place }: MaterialPlace, task: BoardTask, colour: boolean): Promise<Buffer | null> {
  const found = await codeOf(io, place, task.id)
  return found && patchOf(found.git, found.code, colour)
}

/** A longer diff is for the pager. */
const MOST_DIFF_LINES = 5000

async function diffBlocks(at: MaterialPlace, task: BoardTask): Promise<readonly Block[]> {
  const bytes = await patch(at, task, false)
  if (bytes === null) return [line(dim(NO_CODE(task.id)))]
  if (bytes.length === 0) return [line(dim('nothing has changed'))]
  const lines = bytes.toString('utf8', 0, MOST_DIFF_BYTES).split('\n', MOST_DIFF_LINES + 1)
  const more = lines.length > MOST_DIFF_LINES ? [line(dim('… d shows all of it'))] : []
  return [...lines.slice(0, MOST_DIFF_LINES).flatMap(linesIn).map(diffLine), ...more]
}

const MOST_DIFF_BYTES = 2 * 1024 * 1024

function diffLine(text: string): Block {
  if (/^(?:diff |\+\+\+|---)/.test(text)) return line(strong(text))
  if (text.startsWith('+')) return line(good(text))
  if (text.startsWith('-')) return line(bad(text))
  return line(text.startsWith('@@') ? dim(text) : text)
}

const MOST_LOG_BYTES = 16 * 1024 * 1024
const SHOWN_LOG_BYTES = 64 * 1024

function logBlocks(at: MaterialPlace, task: BoardTask): readonly Block[] {
  const bytes = readEnd(logOf(at, task), SHOWN_LOG_BYTES)
  const text = bytes?.toString() ?? ''
  return text === ''
    ? [line(dim(NO_LOG(task.id)))]
    : text
        .split('\n')
        .flatMap(linesIn)
        .map((one) => line(one))
}

/** The log of this run's last attempt at the task; null if there is none. */
function logOf({ model, place }: MaterialPlace, { id }: BoardTask): string | null {
  const log = model.seen(id)?.log
  return log ? join(place.root, log) : null
}

/** The end of a file; null if it cannot be read. */
function readEnd(path: string | null, most: number): Buffer | null {
  if (path === null) return null
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    const { size } = fstatSync(file)
    const bytes = Buffer.alloc(Math.min(size, most))
    readSync(file, bytes, 0, bytes.length, size - bytes.length)
    return bytes
  } catch {
    return null
  } finally {
    if (file !== null) closeSync(file)
  }
}

async function attemptBlocks({ io, place }: MaterialPlace, task: BoardTask): Promise<readonly Block[]> {
  const git = openReadingGit({ cwd: place.root, env: io.env })
  const records = await unlessGitIsMissing(listRecords(git, task.id), [])
  return records.length > 0 ? attemptList(records).slice(1) : [line(dim('no attempt is kept'))]
}

const NOTES = ['Blocked', 'Comments', 'Completion Notes', 'Previous Attempts', 'Description'] as const

/** The notes of people and agents in the file, which a person looks for first. */
async function noteBlocks({ place }: MaterialPlace, { file }: BoardTask): Promise<readonly Block[]> {
  const task = await readTask(place.root, file, place.vocabulary)
  const shown = NOTES.flatMap((name): readonly Block[] => {
    const section = sectionOf(task, name)
    const text = section ? task.source.slice(section.bodySpan.start, section.bodySpan.end).trim() : ''
    return text === '' ? [] : [line(strong(name)), ...text.split('\n').flatMap(linesIn).map(noteLine), BLANK]
  })
  return [...shown, line(dim(file))]
}

function noteLine(text: string): Block {
  const indent = /^ */.exec(text)?.[0] ?? ''
  return text.trim() === '' ? BLANK : { ...paragraph(indent === '' ? [] : [indent], text) }
}
