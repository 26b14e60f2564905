import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { UserError } from '../base/errors.ts'
import { counted } from '../base/text.ts'
import { addedBridge } from './bridges/configuration.ts'
import type { ForeignDraft } from './bridges/draft.ts'
import type { FormatName, Bridge } from '../backlog/formats.ts'
import {
  findBacklog,
  FORMATS,
  readForeign,
  whyUnread,
  type FoundBacklog,
  type Reading,
} from './bridges/formats.ts'
import { planImport, type ImportedTask, type ImportPlan } from './bridges/reimport.ts'
import type { Tree } from './bridges/source.ts'
import { openReadingGit } from '../git/door.ts'
import type { Git } from '../git/git.ts'
import {
  blobsNow,
  earlierImports,
  importedTexts,
  importTrailer,
  storeFiles,
  type EarlierImports,
} from '../git/imports.ts'
import { ignoredPaths } from '../git/repository.ts'
import { readStatus } from '../git/status.ts'
import { composeMessage } from '../git/trailers.ts'
import { draftWriter } from '../backlog/draft.ts'
import { milestoneNamer } from '../backlog/milestone.ts'
import type { Facts, Task } from '../backlog/model.ts'
import { readFacts, readTask } from '../backlog/read.ts'
import { escaped, readOrigin } from '../backlog/origin.ts'
import { fileIn } from '../backlog/task-folders.ts'
import { idOf } from '../backlog/values.ts'
import { commitTaskFiles } from './commit-task-files.ts'
import { findConfig } from '../config/load.ts'
import { foreignTree, recordingTree, treeOfTexts } from './foreign-tree.ts'
import { highestNumber } from './highest-number.ts'
import { idDigits } from './new-task.ts'
import type { Place } from '../config/project.ts'
import { openWithCommit } from '../git/open-repository.ts'
import type { World } from '../base/world.ts'

/** The options of an import. */
export interface ImportWish {
  /** Relative to the root. */
  readonly path: string
  readonly as: FormatName | null
  readonly sync: boolean
  readonly independent: boolean
}

/** The result of an import, or why it has done nothing. */
export interface Imported extends FoundBacklog {
  readonly mistakes: readonly Diagnostic[]
  /** Whether its files are invalid, so that nothing was written. */
  readonly isRefused: boolean
  readonly written: readonly {
    readonly id: string
    readonly file: string
    readonly key: string
    readonly title: string
    readonly isNew: boolean
  }[]
  readonly both: ImportPlan['both']
  readonly gone: ImportPlan['gone']
  readonly dropped: number
  /** Documents and settings beside the tasks, relative to the root. */
  readonly files: readonly string[]
  /** Documents that existed before, and stay. */
  readonly kept: readonly string[]
  readonly sync: boolean
}

/** Reads another tool's backlog, and writes what is new or has changed as task files, in one commit. */
export async function importTasks(world: World, place: Place, wish: ImportWish): Promise<Imported> {
  const project = await openTarget(place)
  const tree = recordingTree(foreignTree(project.root))
  const found = findOrRefuse(wish, tree)
  if (wish.sync && !FORMATS[found.format].write)
    throw new UserError(
      `${found.path} is read, and never written: its state is another tool's`,
      'Import it without --sync.',
    )
  const reading = readForeign(found, tree, wish)
  const nothing = {
    written: [],
    both: [],
    gone: [],
    files: [],
    kept: [],
    dropped: reading.dropped,
    sync: wish.sync,
  }
  if (reading.mistakes.some(({ severity }) => severity === 'error'))
    return { ...found, ...nothing, mistakes: reading.mistakes, isRefused: true }
  const { git, repository } = await openWithCommit(world, project.root)
  const prefix = prefixOf(repository.root, project.root)
  if (wish.sync) await refuseUncommitted(git, found, { tree, prefix })
  const plan = await planOf(git, { project, found, reading, wish, prefix })
  const highest = await highestNumber(
    openReadingGit({ cwd: project.root, env: world.env }),
    project,
    project.tasks,
  )
  const { texts, written } = textsOf({ ...project, highest }, found.path, plan)
  const documents = documentsOf(project, reading)
  const config = wish.sync
    ? withBridge(project.root, { path: found.path, as: found.format, sync: true })
    : null
  const beside = new Map([...documents.added, ...(config ? [[config.file, config.text] as const] : [])])
  if (texts.size + beside.size > 0) {
    const hash = await storeFiles(
      git,
      [...tree.read.keys()].map((path) => prefix + path),
      repository.gitDir,
    )
    await commitTaskFiles(world, {
      root: project.root,
      texts: new Map([...texts, ...beside]),
      added: written.flatMap(({ file, isNew }) => (isNew ? [file] : [])),
      message: composeMessage({
        subject: subjectOf(plan, found.path),
        body: '',
        trailers: [importTrailer(escaped(found.path), hash)],
      }),
    })
  }
  return {
    ...found,
    ...nothing,
    mistakes: reading.mistakes,
    isRefused: false,
    written,
    both: plan.both,
    gone: plan.gone,
    files: [...beside.keys()],
    kept: documents.kept,
  }
}

/** The target of an import: the known facts of the tasks there, and a few whole tasks, for their style. */
interface Target extends Place {
  readonly tasks: readonly Facts<'milestone' | 'origin'>[]
  readonly neighbours: readonly Task[]
}

const NEIGHBOURS = 10

async function openTarget(place: Place): Promise<Target> {
  if (!existsSync(join(place.root, place.folders.first))) return { ...place, tasks: [], neighbours: [] }
  const { tasks } = await readFacts(place, { facts: ['milestone', 'origin'] })
  const last = tasks.slice(-NEIGHBOURS)
  const neighbours = await Promise.all(last.map(({ file }) => readTask(place.root, file, place.vocabulary)))
  return { ...place, tasks, neighbours }
}

function findOrRefuse({ path, as }: ImportWish, tree: Tree): FoundBacklog {
  const found = findBacklog(path, tree, as)
  if (found) return found
  const isThere = tree.list(path).length > 0 || tree.text(path) !== null
  const [mistake] = whyUnread(path, tree)
  if (mistake)
    throw new UserError(
      `${mistake.file}:${mistake.line}:${mistake.column} ${mistake.message}`,
      'Correct it, and import it again.',
    )
  if (!isThere)
    throw new UserError(`there is no file or folder ${path}`, 'Name the backlog: ralph import prd.json')
  throw new UserError(
    as === null ? `${path} is no backlog that ralph knows` : `${path} is not written as ${as}`,
    `It reads ${Object.values(FORMATS)
      .map(({ about }) => about)
      .join('; ')}.`,
  )
}

function prefixOf(repository: string, root: string): string {
  const path = relative(repository, root).replaceAll('\\', '/')
  return path === '' ? '' : `${path}/`
}

/** Throws if these files have uncommitted changes: what is written back to them goes into tasks' commits. */
async function refuseUncommitted(
  git: Git,
  { format, path }: FoundBacklog,
  {
    tree,
    prefix,
  }: { readonly tree: Tree & { readonly read: ReadonlyMap<string, string> }; readonly prefix: string },
): Promise<void> {
  const { entries } = await readStatus(git)
  const own = new Set([...tree.read.keys()].map((file) => prefix + file))
  const dirty = entries.find(
    (entry) =>
      own.has(entry.path) ||
      (entry.path.endsWith('/') && [...own].some((file) => file.startsWith(entry.path))),
  )
  if (dirty)
    throw new UserError(
      `${dirty.path} is not committed`,
      `Commit it first: with --sync tasks write their status into ${path}.`,
    )
  const ignored = await ignoredPaths(git, [...own])
  if (ignored.size > 0)
    throw new UserError(
      `git ignores ${[...ignored][0]!}, so no commit could hold the status of its tasks`,
      `Take it out of .gitignore, or import it without --sync (${FORMATS[format].about}).`,
    )
}

/** What to import, compared with what was imported from there before. */
async function planOf(
  git: Git,
  around: {
    readonly project: Target
    readonly found: FoundBacklog
    readonly reading: Reading
    readonly wish: ImportWish
    readonly prefix: string
  },
): Promise<ImportPlan> {
  const { project, found, reading, wish, prefix } = around
  const own = project.tasks.flatMap((task) => {
    const origin = readOrigin(task.origin)
    return origin?.path === found.path ? [{ task, key: origin.key }] : []
  })
  if (own.length === 0) return planImport(reading.drafts, [], null)
  const earlier = await earlierImports(git, escaped(found.path))
  const texts = earlier && (await textsBefore(git, earlier, { path: found.path, prefix }))
  const before = texts ? readForeign(found, treeOfTexts(texts), wish).drafts : null
  const blobs = await blobsNow(
    git,
    own.map(({ task }) => prefix + task.file),
  )
  const imported = own.map(({ task, key }): ImportedTask => {
    const path = prefix + task.file
    const isChangedHere = blobs.get(path) !== earlier?.written.get(path)
    return { id: task.id, key, file: task.file, status: task.status, isChangedHere }
  })
  return planImport(reading.drafts, imported, before)
}

async function textsBefore(
  git: Git,
  earlier: EarlierImports,
  { path, prefix }: { readonly path: string; readonly prefix: string },
): Promise<ReadonlyMap<string, string> | null> {
  const texts = await importedTexts(git, earlier, prefix + path)
  return texts && new Map([...texts].map(([file, text]) => [file.slice(prefix.length), text]))
}

/** The task files to write: new ones in the origin's order, and those that have changed there. */
function textsOf(
  project: Target & { readonly highest: number },
  path: string,
  { added, changed }: ImportPlan,
): { readonly texts: ReadonlyMap<string, string>; readonly written: Imported['written'] } {
  const { tasks, highest, neighbours, folders, vocabulary } = project
  const digits = tasks.length > 0 ? idDigits(tasks) : Math.max(3, String(highest + added.length).length)
  const ids = new Map(
    tasks.flatMap((task) => {
      const origin = readOrigin(task.origin)
      return origin?.path === path ? [[origin.key, task.id] as const] : []
    }),
  )
  for (const [index, { key }] of added.entries()) ids.set(key, idOf(highest + 1 + index, digits))
  const textOf = draftWriter(neighbours, vocabulary)
  const milestoneOf = milestoneNamer([...new Set(tasks.flatMap(({ milestone }) => milestone ?? []))])
  const rows = [
    ...changed.map(({ task, draft }) => ({ draft, id: task.id, file: task.file, isNew: false })),
    ...added.map((draft) => {
      const id = ids.get(draft.key) ?? ''
      return { draft, id, file: fileIn(folders.first, `${id}.md`), isNew: true }
    }),
  ]
  const textIn = ({ draft, id }: { readonly draft: ForeignDraft; readonly id: string }): string =>
    textOf(id, {
      ...draft,
      milestone: draft.milestone && milestoneOf(draft.milestone),
      depends: draft.depends.flatMap((key) => ids.get(key) ?? []),
      origin: { path, key: draft.key },
    })
  return {
    texts: new Map(rows.map((row) => [row.file, textIn(row)])),
    written: rows.map(({ draft: { key, title }, id, file, isNew }) => ({ id, file, key, title, isNew })),
  }
}

function documentsOf(
  { root }: Pick<Place, 'root'>,
  { documents }: Reading,
): { readonly added: ReadonlyMap<string, string>; readonly kept: readonly string[] } {
  const isThere = ([file]: readonly [string, string]): boolean => existsSync(join(root, file))
  const all = [...documents]
  return {
    added: new Map(all.filter((document) => !isThere(document))),
    kept: all.filter(isThere).map(([file]) => file),
  }
}

/** The configuration with the bridge, if that is missing. */
export function withBridge(
  root: string,
  bridge: Bridge,
): { readonly file: string; readonly text: string } | null {
  const file = findConfig(root)?.file
  if (file === undefined)
    return { file: 'ralph.config.json', text: `${JSON.stringify({ bridges: [bridge] }, null, 2)}\n` }
  const text = addedBridge(file, readFileSync(join(root, file), 'utf8'), bridge)
  return text === null ? null : { file, text }
}

function subjectOf({ added, changed }: ImportPlan, path: string): string {
  const parts = [
    ...(added.length > 0 ? [`import ${counted(added.length, 'task')}`] : []),
    ...(changed.length > 0 ? [`change ${counted(changed.length, 'task')}`] : []),
  ]
  const what = parts.length === 0 ? 'keep in step' : parts.join(', ')
  return `${what.slice(0, 1).toUpperCase()}${what.slice(1)} ${added.length > 0 ? 'from' : 'with'} ${path}`
}
