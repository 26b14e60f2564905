import { join } from 'node:path'
import { deepFolder, foldersUnder, namesIn } from '../base/folder.ts'
import type { Git } from './git.ts'

/** Of more branches than these, only the newest are read. */
const MOST_TIPS = 500

/**
 * The names in some folders below the door's, on any local or remote-tracking branch and in any worktree: names that
 * are in use elsewhere already.
 */
export async function namesEverywhere(git: Git, folders: readonly string[]): Promise<ReadonlySet<string>> {
  const [tips, worktrees, prefix] = await Promise.all([
    git.run([
      'for-each-ref',
      '--format=%(objectname)',
      '--sort=-committerdate',
      'refs/heads',
      'refs/remotes',
    ]),
    git.run(['worktree', 'list', '--porcelain'], { okCodes: [0, 128, 129] }),
    git.run(['rev-parse', '--show-prefix']),
  ])
  const commits = new Set(linesOf(tips.stdout).slice(0, MOST_TIPS))
  const names = await namesInTrees(
    git,
    [...commits].flatMap((tip) => folders.map((one) => `${tip}:./${deepFolder(one) ?? one}`)),
    folders.some((one) => deepFolder(one) !== null),
  )
  const below = prefix.stdout.toString().replace(/\n$/, '')
  for (const line of linesOf(worktrees.stdout))
    if (line.startsWith('worktree '))
      for (const folder of folders)
        for (const name of namesOnDisk(join(line.slice('worktree '.length), below), folder)) names.add(name)
  return names
}

function namesOnDisk(root: string, name: string): readonly string[] {
  const deep = deepFolder(name)
  const folders = deep === null ? [name] : foldersUnder(root, deep)
  return folders.flatMap((folder) => namesIn(join(root, folder)))
}

/** The names in these folders of commits, perhaps with those below; each folder's content is read once. */
async function namesInTrees(git: Git, folders: readonly string[], isDeep: boolean): Promise<Set<string>> {
  const names = new Set<string>()
  const below = new Set<string>()
  if (folders.length === 0) return names
  const looked = await git.run(['cat-file', '--batch-check'], { stdin: `${folders.join('\n')}\n` })
  const trees = new Set(
    linesOf(looked.stdout).flatMap((line) => /^([0-9a-f]{40,64}) tree /.exec(line)?.[1] ?? []),
  )
  if (trees.size === 0) return names
  const { stdout } = await git.run(['cat-file', '--batch'], { stdin: `${[...trees].join('\n')}\n` })
  for (let at = 0; at < stdout.length;) {
    const head = stdout.indexOf(LINE_FEED, at)
    const [tree = '', , size] = stdout.toString('latin1', at, head).split(' ')
    const end = head + 1 + Number(size)
    // Each entry is its mode, a blank, its name, a zero byte, and the bytes of a hash.
    for (let entry = head + 1; entry < end;) {
      const zero = stdout.indexOf(0, entry)
      names.add(stdout.toString('utf8', stdout.indexOf(BLANK, entry) + 1, zero))
      if (isDeep && stdout.toString('latin1', entry, entry + FOLDER.length) === FOLDER)
        below.add(stdout.toString('hex', zero + 1, zero + 1 + tree.length / 2))
      entry = zero + 1 + tree.length / 2
    }
    at = end + 1
  }
  for (const name of await namesInTrees(git, [...below], isDeep)) names.add(name)
  return names
}

const [LINE_FEED, BLANK] = [10, 32]
/** The mode of a folder. */
const FOLDER = '40000 '

function linesOf(output: Buffer): readonly string[] {
  return output.toString().split('\n').filter(Boolean)
}

/** Every file below the door's folder that git tracks, or that is new and not ignored. */
export async function knownFiles(git: Git): Promise<readonly string[]> {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--deduplicate']
  const { stdout } = await git.run(args)
  return stdout.toString().split('\0').filter(Boolean).toSorted()
}
