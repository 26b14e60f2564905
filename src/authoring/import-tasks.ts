import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { UserError } from '../base/errors.ts'
import { textAt } from '../base/read-file.ts'
import { counted } from '../base/text.ts'
import type { World } from '../base/world.ts'
import { draftWriter } from '../backlog/draft.ts'
import type { FormatName } from '../backlog/formats.ts'
import { milestoneNamer } from '../backlog/milestone.ts'
import type { Facts } from '../backlog/model.ts'
import { escaped, readOrigin } from '../backlog/origin.ts'
import { presentFolders, readFacts, readTask } from '../backlog/read.ts'
import { fileIn } from '../backlog/task-folders.ts'
import { findConfig } from '../config/load.ts'
import type { Place } from '../config/project.ts'
import { openReadingGit } from '../git/door.ts'
import type { Git } from '../git/git.ts'
import {
  blobsNow,
  earlierImports,
  importedTexts,
  importTrailer,
  keepText,
  storeFiles,
} from '../git/imports.ts'
import { openWithCommit } from '../git/open-repository.ts'
import { ignoredPaths } from '../git/repository.ts'
import { readStatus } from '../git/status.ts'
import { composeMessage } from '../git/trailers.ts'
import { withBridge } from './bridges/configuration.ts'
import type { ForeignDraft, ReadingOptions } from './bridges/format.ts'
import { findBacklog, FORMATS, isBroken, readForeign, type FoundBacklog } from './bridges/formats.ts'
import { openSources } from './bridges/source.ts'
import { foreignTree, recordingTree, treeOfTexts, type Tree } from './bridges/tree.ts'
import { closeDone, isGithub, readIssues } from './github.ts'
import { commitTaskFiles } from './commit-task-files.ts'
import { highestOf, idDigits, takenNumbers } from './new-task.ts'

/** The options of an import. */
export interface ImportWish {
  /** Relative to the root. */
  readonly path: string
  readonly as: FormatName | null
  readonly sync: boolean
  readonly independent: boolean
  /** Whether nothing is written. */
  readonly dryRun: boolean
  /** Of issues on GitHub: only those with it are imported. */
  readonly label?: string | undefined
}

/** The result of an import. If its files are invalid, it is refused, and nothing was written. */
export type Imported = Awaited<ReturnType<typeof importTasks>>

/** Reads another tool's backlog, and writes what is new or has changed as task files, in one commit. */
export async function importTasks(world: World, place: Place, wish: ImportWish) {
  const { root } = place
  const isRemote = isGithub(wish.path)
  if (wish.label !== undefined && !isRemote)
    throw new UserError('--label is for issues of GitHub', 'ralph import github:owner/repo --label agent')
  const issues = isRemote ? await readIssues(world, wish.path, wish.label) : null
  const tree = recordingTree(
    issues === null ? foreignTree(root) : treeOfTexts(new Map([[wish.path, issues]])),
  )
  const found = findOrRefuse(wish, tree)
  const { path, format } = found
  if (wish.sync && FORMATS[format].isReadOnly)
    throw new UserError(
      `${path} is read, and never written: its state is another tool's`,
      'Import it without --sync.',
    )
  const tasks = await knownTasks(place)
  const imported = tasks.flatMap(({ id, file, status, origin }) => {
    const from = readOrigin(origin)
    return from?.path === path ? [{ id, file, status, key: from.key }] : []
  })
  const how = isRemote ? { ...wish, imported: imported.map(({ key }) => key) } : wish
  const { drafts, documents, dropped, mistakes } = readForeign(found, tree, how)
  const { sync, dryRun } = wish
  const result = { ...found, mistakes, dropped, sync, dryRun }
  if (isBroken(mistakes))
    return { ...result, isRefused: true, written: [], both: [], gone: [], files: [], kept: [], said: [] }
  const { git, repository } = await openWithCommit(world, root)
  const inside = relative(repository.root, root).replaceAll('\\', '/')
  const prefix = inside === '' ? '' : `${inside}/`
  const read = [...tree.read.keys()].map((file) => prefix + file)
  if (wish.sync && !isRemote) await refuseUncommitted(git, read, found)

  if (isRemote && drafts.length + imported.length === 0)
    throw new UserError(
      `${path} has no open issue with the label ${wish.label}`,
      `gh label list --repo ${path.slice('github:'.length)} shows its labels.`,
    )
  const before = await lastImport(git, { found, prefix, wish: how, imported })
  const plan = planImport(drafts, imported, before)
  const rows = await rowsOf(world, place, { format, tasks, plan })
  const texts = await textsOf(place, { path, tasks, imported, rows })
  // Some changes over there make no difference in a task's file.
  const written = rows.filter(({ file }) => texts.has(file))
  const config = wish.sync ? withBridge(root, findConfig(root)?.file, { path, as: format, sync: true }) : null
  const isThere = (file: string): boolean => existsSync(join(root, file))
  const kept = [...documents.keys()].filter(isThere)
  const beside = new Map([...documents].filter(([file]) => !isThere(file)))
  if (config) beside.set(config.file, config.text)
  if (texts.size + beside.size > 0 && !dryRun) {
    const hash =
      issues === null
        ? await storeFiles(git, read, repository.gitDir)
        : await keepText(git, escaped(path), issues)
    await commitTaskFiles(world, {
      root,
      texts: new Map([...texts, ...beside]),
      added: written.flatMap(({ file, isNew }) => (isNew ? [file] : [])),
      message: composeMessage({
        subject: subjectOf(written, path),
        body: '',
        trailers: [importTrailer(escaped(path), hash)],
      }),
    })
  }
  const done = imported.filter(({ status }) => status === 'DONE')
  const said = issues !== null && sync && !dryRun ? await closeDone(world, { path, issues }, done) : []
  return {
    ...result,
    isRefused: false,
    written: written.map(({ draft: { key, title }, id, file, isNew }) => ({ id, file, key, title, isNew })),
    both: plan.both,
    gone: plan.gone,
    files: [...beside.keys()],
    kept,
    /** About issues of DONE tasks that were still open. */
    said,
  }
}

function findOrRefuse({ path, as }: ImportWish, tree: Tree): FoundBacklog {
  const sources = openSources(tree)
  const found = findBacklog(path, sources, as)
  if (found) return found
  sources.value(path)
  const [mistake] = sources.mistakes
  if (mistake)
    throw new UserError(
      `${mistake.file}:${mistake.line}:${mistake.column} ${mistake.message}`,
      'Correct it, and import it again.',
    )
  if (tree.list(path).length === 0 && tree.text(path) === null)
    throw new UserError(`there is no file or folder ${path}`, 'Name the backlog: ralph import prd.json')
  const known = Object.values(FORMATS).map(({ about }) => about)
  throw new UserError(
    as === null ? `${path} is no backlog that ralph knows` : `${path} is not written as ${as}`,
    `It reads ${known.join('; ')}.`,
  )
}

/** Throws if these files have uncommitted changes: what is written back to them goes into tasks' commits. */
async function refuseUncommitted(
  git: Git,
  read: readonly string[],
  { format, path }: FoundBacklog,
): Promise<void> {
  const { entries } = await readStatus(git)
  // A folder that is new has one entry.
  const dirty = entries.find((entry) =>
    read.some((file) => file === entry.path || (entry.path.endsWith('/') && file.startsWith(entry.path))),
  )
  if (dirty)
    throw new UserError(
      `${dirty.path} is not committed`,
      `Commit it first: with --sync tasks write their status into ${path}.`,
    )
  const [ignored] = await ignoredPaths(git, read)
  if (ignored !== undefined)
    throw new UserError(
      `git ignores ${ignored}, so no commit could hold the status of its tasks`,
      `Take it out of .gitignore, or import it without --sync (${FORMATS[format].about}).`,
    )
}

type KnownTask = Facts<'milestone' | 'origin'>

async function knownTasks(place: Place): Promise<readonly KnownTask[]> {
  if (presentFolders(place.root, place.folders).length === 0) return []
  return (await readFacts(place, { facts: ['milestone', 'origin'] })).tasks
}

/** A task that an earlier import added. */
interface ImportedTask extends Pick<KnownTask, 'id' | 'file' | 'status'> {
  readonly key: string
}

/** What the last import read, and which of its tasks have changed since; null if that is unknown. */
async function lastImport(
  git: Git,
  around: { found: FoundBacklog; prefix: string; wish: ReadingOptions; imported: readonly ImportedTask[] },
) {
  const { found, prefix, wish, imported } = around
  const earlier = imported.length === 0 ? null : await earlierImports(git, escaped(found.path))
  const texts = earlier && (await importedTexts(git, earlier, prefix + found.path))
  if (!texts) return null
  const tree = treeOfTexts(new Map([...texts].map(([file, text]) => [file.slice(prefix.length), text])))
  const now = await blobsNow(
    git,
    imported.map(({ file }) => prefix + file),
  )
  return {
    drafts: readForeign(found, tree, wish).drafts,
    isChangedHere: ({ file }: ImportedTask) => now.get(prefix + file) !== earlier.written.get(prefix + file),
  }
}

/** Compares the backlog with its state at the last import. */
function planImport(
  drafts: readonly ForeignDraft[],
  imported: readonly ImportedTask[],
  before: Awaited<ReturnType<typeof lastImport>>,
) {
  const known = new Map(imported.map((task) => [task.key, task]))
  const earlier = new Map(before?.drafts.map((draft) => [draft.key, draft]))
  const keys = new Set(drafts.map(({ key }) => key))
  const moved = drafts.flatMap((draft) => {
    const [task, old] = [known.get(draft.key), earlier.get(draft.key)]
    if (!task || !old || task.status === 'DONE') return []
    const parts = differing(old, draft)
    return parts.length === 0 ? [] : [{ task, draft, parts }]
  })
  // If a task's file and its origin have both changed, a person has to decide.
  const isOpen = ({ task }: { task: ImportedTask }): boolean =>
    task.status === 'TODO' && before?.isChangedHere(task) === false
  return {
    added: drafts.filter(({ key }) => !known.has(key)),
    changed: moved.filter(isOpen),
    both: moved.filter((one) => !isOpen(one)),
    gone: imported.filter(({ key, status }) => !keys.has(key) && status !== 'DONE'),
  }
}

type ImportPlan = ReturnType<typeof planImport>
type Rows = Awaited<ReturnType<typeof rowsOf>>

/** The parts in which two drafts differ, except their place in the file. */
function differing(before: ForeignDraft, after: ForeignDraft): readonly string[] {
  const parts = Object.keys(after) as (keyof ForeignDraft)[]
  return parts.filter(
    (part) => part !== 'place' && JSON.stringify(before[part]) !== JSON.stringify(after[part]),
  )
}

/** The tasks to write: those that have changed there, and new ones in the origin's order. */
async function rowsOf(
  { env }: World,
  place: Place,
  { format, tasks, plan }: { format: FormatName; tasks: readonly KnownTask[]; plan: ImportPlan },
) {
  const { added, changed } = plan
  const taken = await takenNumbers(openReadingGit({ cwd: place.root, env }), place, tasks)
  const numbers = numbersFor(added, taken, format === 'change')
  const digits = tasks.length > 0 ? idDigits(tasks) : Math.max(3, String(highestOf(numbers)).length)
  return [
    ...changed.map(({ task: { id, file }, draft }) => ({ draft, id, file, isNew: false })),
    ...added.map((draft, index) => {
      const id = place.vocabulary.ids.idOf(numbers[index]!, digits)
      return { draft, id, file: fileIn(place.folders.first, `${id}.md`), isNew: true }
    }),
  ]
}

/**
 * The numbers of new tasks. A key that is a number stays one where it is free, as texts refer to it ("from task #3"), and
 * then no other task gets a number that is in use there. The numbers of a list are places in it: its order goes first.
 */
function numbersFor(
  drafts: readonly ForeignDraft[],
  taken: ReadonlySet<number>,
  isList: boolean,
): readonly number[] {
  const own = drafts.map(({ key }) => Number(/^T?(\d{1,6})$/i.exec(key)?.[1] ?? 0))
  const used = own.filter(Boolean)
  const isInOrder = used.every((number, index) => index === 0 || number > used[index - 1]!)
  const keeps = isInOrder && used.length > 0 && (!isList || used.length === own.length)
  const named = drafts.map(({ key }) => Number(/^T?(\d{1,6})\b/i.exec(key)?.[1] ?? 0))
  let highest = highestOf([...taken, ...(keeps ? named : [])])
  return own.map((number) => (keeps && number > 0 && !taken.has(number) ? number : ++highest))
}

const NEIGHBOURS = 10

/** The texts of their files by path, in the style of the last tasks. */
async function textsOf(
  { root, vocabulary }: Place,
  around: {
    path: string
    tasks: readonly KnownTask[]
    imported: readonly ImportedTask[]
    rows: Rows
  },
): Promise<ReadonlyMap<string, string>> {
  const { path, tasks, imported, rows } = around
  const ids = new Map([
    ...imported.map(({ key, id }) => [key, id] as const),
    ...rows.map(({ draft, id }) => [draft.key, id] as const),
  ])
  const last = tasks.slice(-NEIGHBOURS)
  const neighbours = await Promise.all(last.map(({ file }) => readTask(root, file, vocabulary)))
  const textOf = draftWriter(neighbours, vocabulary)
  const milestoneOf = milestoneNamer([...new Set(tasks.flatMap(({ milestone }) => milestone ?? []))])
  const texts = rows.map(
    ({ draft, id, file }) =>
      [
        file,
        textOf(id, {
          ...draft,
          milestone: draft.milestone && milestoneOf(draft.milestone),
          depends: draft.depends.flatMap((key) => ids.get(key) ?? []),
          origin: { path, key: draft.key },
        }),
      ] as const,
  )
  const isNew = ([file, text]: (typeof texts)[number]): boolean => textAt(join(root, file)) !== text
  return new Map(texts.filter(isNew))
}

function subjectOf(rows: Rows, path: string): string {
  const added = rows.filter(({ isNew }) => isNew).length
  const changed = rows.length - added
  const parts = [
    ...(added > 0 ? [`import ${counted(added, 'task')}`] : []),
    ...(changed > 0 ? [`change ${counted(changed, 'task')}`] : []),
  ]
  const what = parts.length === 0 ? 'keep in step' : parts.join(', ')
  return `${what.slice(0, 1).toUpperCase()}${what.slice(1)} ${added > 0 ? 'from' : 'with'} ${path}`
}
