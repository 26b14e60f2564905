import { join } from 'node:path'
import { readChanges } from './raw-changes.ts'
import { contentsOf } from './contents.ts'
import type { Git } from './git.ts'
import { readLog } from './log.ts'
import { withIndex } from './made-commit.ts'
import type { Trailer } from './trailers.ts'

/** The key of the trailer that names what a commit has imported, and its state at that time. */
const IMPORT = 'Import'

/** The trailer of an import's commit: the path of a backlog, and the object that holds what was read. */
export function importTrailer(path: string, hash: string): Trailer {
  return { key: IMPORT, value: `${path}@${hash}` }
}

/** The earlier imports of a path. */
interface EarlierImports {
  /** The last of these commits, and the object that holds what it read. */
  readonly commit: string
  readonly hash: string
  /** For each file that one of them wrote, by its path in the repository, the blob that the last one wrote. */
  readonly written: ReadonlyMap<string, string>
}

/** The imports of a path in the history of HEAD; null if there is none. */
export async function earlierImports(git: Git, path: string): Promise<EarlierImports | null> {
  const entries = await readLog(git, { withTrailer: IMPORT })
  const own = entries.flatMap(({ hash, trailers }) => {
    const value = trailers.find(({ key, value }) => key === IMPORT && value.startsWith(`${path}@`))?.value
    return value === undefined ? [] : [{ commit: hash, hash: value.slice(path.length + 1) }]
  })
  const [last] = own
  if (!last || !/^[0-9a-f]{40,64}$/.test(last.hash)) return null
  const written = new Map<string, string>()
  const commits = own.map(({ commit }) => commit)
  for (const { changes } of (await readChanges(git, { commits })).toReversed())
    for (const { path: file, after } of changes) if (after !== null) written.set(file, after)
  return { ...last, written }
}

/** The blobs of files in the work tree, by path: unfiltered, as they are stored. */
export async function blobsNow(
  git: Git,
  paths: readonly string[],
  { store = false }: { store?: boolean } = {},
): Promise<ReadonlyMap<string, string>> {
  const named = paths.filter((path) => !path.includes('\n'))
  if (named.length === 0) return new Map()
  const args = ['hash-object', ...(store ? ['-w', '--no-filters'] : []), '--stdin-paths']
  const { stdout } = await git.run(args, { stdin: `${named.join('\n')}\n` })
  const blobs = stdout.toString().split('\n')
  return new Map(named.map((path, index) => [path, blobs[index] ?? '']))
}

/** Stores files of the work tree as a git object: one file as a blob, several as a tree of their paths. */
export async function storeFiles(git: Git, paths: readonly string[], gitDir: string): Promise<string> {
  const blobs = await blobsNow(git, paths, { store: true })
  const [only] = blobs.values()
  if (only !== undefined && blobs.size === 1) return only
  return withIndex(git, join(gitDir, 'ralph-index-import'), async (door) => {
    const lines = [...blobs].map(([path, blob]) => `100644 ${blob}\t${path}\0`).join('')
    await door.run(['update-index', '-z', '--index-info'], { stdin: lines })
    return (await door.run(['write-tree'])).stdout.toString().trim()
  })
}

/** Stores a text that is in no file, so that git never removes it while it is the last one of its name. */
export async function keepText(git: Git, name: string, text: string): Promise<string> {
  const { stdout } = await git.run(['hash-object', '-w', '--stdin'], { stdin: text })
  const hash = stdout.toString().trim()
  await git.run(['update-ref', `refs/ralph/imports/${name.replaceAll(/[^\w/-]/g, '-')}`, hash])
  return hash
}

/** What an import read, by path in the repository; null if it no longer exists. */
export async function importedTexts(
  git: Git,
  { commit, hash }: EarlierImports,
  path: string,
): Promise<ReadonlyMap<string, string> | null> {
  const { code, stdout } = await git.run(['cat-file', '-t', hash], { okCodes: [0, 128] })
  const type = code === 0 ? stdout.toString().trim() : ''
  if (type === 'blob') {
    const content = (await git.run(['cat-file', 'blob', hash])).stdout
    return new Map([[path, content.toString()]])
  }
  // git may have removed a tree of several files; the commit has those that were committed.
  const tree = type === 'tree' ? hash : commit
  const only = type === 'tree' ? [] : ['--', path]
  const { stdout: names } = await git.run([
    'ls-tree',
    '-r',
    '-z',
    '--name-only',
    '--full-tree',
    tree,
    ...only,
  ])
  const files = names.toString().split('\0').filter(Boolean)
  const contents = await contentsOf(
    git,
    files.map((file) => `${tree}:${file}`),
  )
  const texts = files.flatMap((file): [string, string][] => {
    const content = contents.get(`${tree}:${file}`)
    return content ? [[file, content.toString()]] : []
  })
  return texts.length === 0 ? null : new Map(texts)
}
