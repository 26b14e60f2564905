import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commit, type CommitResult } from '../git/commit.ts'
import { GitError, type Git } from '../git/git.ts'
import { commitAt, commitsBetween, moveBranch, type LaterCommit } from '../git/head.ts'
import { ignoredPaths } from '../git/repository.ts'
import {
  attemptMessage,
  attemptRef,
  candidateRef,
  keepCommit,
  listCandidates,
  listRecords,
  type KeptAttempt,
} from '../git/record.ts'
import { changeRefs } from '../git/refs.ts'
import { treeWithoutFilters } from '../git/tree.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { FilesToCommit, Inspect, Landing, Recorder, ToKeep, ToLand, Work } from './port.ts'
import type { Room } from './room.ts'

/** What makes commits in a workspace. */
export function openRecorder(room: Room, inspect: Inspect, checkpoint: (name: Checkpoint) => void): Recorder {
  const { git, refs } = room
  const dropped = new Map<string, string>()
  return {
    async keep(attempt) {
      const { task, number } = attempt.facts
      const tree = await exactTree(room, attempt.work)
      return keep(room, attempt, { ref: attemptRef(task, number), tree })
    },
    async candidate({ token, ...attempt }) {
      const { task, number } = attempt.facts
      const ref = candidateRef(task, number, token)
      return keep(room, attempt, { ref, tree: attempt.work.tree })
    },
    dropCandidate({ ref, commit: hash }) {
      dropped.set(ref, hash)
    },
    async removeDropped() {
      if (dropped.size === 0) return
      await changeRefs(git, { make: new Map(), take: dropped })
      for (const ref of dropped.keys()) refs.set(ref, null)
      dropped.clear()
    },
    async kept(task, number) {
      return (await listRecords(git, task)).find((record) => record.number === number) ?? null
    },
    candidates: () => listCandidates(git),
    land: (request) => land(room, request, { inspect, checkpoint }),
    async commitTexts({ texts, message, signal }) {
      const undo = writeTexts(room, texts)
      checkpoint('file-blocked')
      const paths = [...texts.keys()].map((path) => `${room.prefix}${path}`)
      const result = await commitFiles(room, inspect, { paths, message, signal })
      if (result.kind !== 'committed') undo()
      return result
    },
    commitFiles: (request) => commitFiles(room, inspect, request),
  }
}

async function commitFiles(
  room: Room,
  inspect: Inspect,
  { paths, message, signal }: FilesToCommit,
): Promise<CommitResult & { readonly head: string | null }> {
  const result = await commit(room.git, { message, paths, signal })
  if (result.kind !== 'committed') {
    await unstage(room)
    return { ...result, head: null }
  }
  if (room.isAdopted) await room.own.take(paths)
  return { ...result, head: (await inspect.status()).head }
}

async function keep(
  room: Room,
  { facts, work, at, replaces, commits = [] }: ToKeep,
  { ref, tree }: { readonly ref: string; readonly tree: string },
): Promise<KeptAttempt> {
  const earlier = replaces ? [replaces.commit] : []
  const parents = [...new Set([work.base.head, ...(work.head?.commits ?? []), ...earlier, ...commits])]
  // Of one ref a record may take the place of an earlier one; what it replaces elsewhere is only its parent.
  const before = replaces?.ref === ref ? replaces.commit : null
  const message = attemptMessage(facts)
  const hash = await keepCommit(room.git, { ref, tree, message, parents, replaces: before })
  room.refs.set(ref, hash)
  return { ...facts, ref, commit: hash, parents, tree, keptAt: Math.floor(at.getTime() / 1000) }
}

/**
 * The tree byte for byte. Attributes that the attempt itself brought (line ends, filters, `ident`) have git store other
 * bytes than there are, and a record is to hold what there was.
 */
async function exactTree(room: Room, { tree, base, changes }: Work): Promise<string> {
  if (!changes.some(({ path }) => isAttributes(path))) return tree
  const scratch = join(room.repository.gitDir, 'ralph-index-exact')
  try {
    return await treeWithoutFilters(room.own.git.with({ env: { GIT_INDEX_FILE: scratch } }), base.head, tree)
  } finally {
    rmSync(scratch, { force: true })
  }
}

/** Whether that file says how git stores others. */
export function isAttributes(path: string): boolean {
  return path === '.gitattributes' || path.endsWith('/.gitattributes')
}

/** Makes the task's commit of the tree that is checked, and looks at what became of it. */
async function land(
  room: Room,
  { base, tree, texts, message, signal }: ToLand,
  { inspect, checkpoint }: { readonly inspect: Inspect; readonly checkpoint: (name: Checkpoint) => void },
): Promise<Landing> {
  const { git, own, places } = room
  const undo = writeTexts(room, texts)
  checkpoint('file-completed')
  const result = await attempt(async () => {
    await own.take(await notIgnored(room, [...texts.keys()]))
    await own.publish()
    // The hooks that there were when the run began: a setting that an agent has changed elsewhere finds no others.
    const door = places ? git.with({ settings: { 'core.hooksPath': places.hooks } }) : git
    return commit(door, { message, signal })
  })
  if (result.kind !== 'committed') {
    undo()
    await own.hold(tree)
    await unstage(room)
    return result
  }
  checkpoint('committed')
  const { head, branch, entries } = await inspect.status()
  if (head === null) throw new Error('there is no commit after one was made')
  const top = await commitAt(git, room.repository, head)
  const made = top.parents[0] === base.head ? null : await madeBelow(git, { base, head, message })
  const [parent] = made?.parents ?? []
  if (made && parent !== undefined && parent !== base.head) {
    // Somebody committed in the last moment. Their commit stays, and this one is made anew on top of it.
    await moveBranch(git, { branch, from: made.hash, to: parent }, 'ralph: another commit came first')
    undo()
    await own.hold(tree)
    await unstage(room)
    return { kind: 'moved' }
  }
  const changedByHook = entries.filter(({ staged }) => staged).map(({ path }) => path)
  if (changedByHook.length > 0) await own.hold(head)
  room.hasTree(head, top.tree)
  own.holds(top.tree)
  const left = entries.filter((entry) => entry.unstaged && !(entry.nested && entry.kind === 'untracked'))
  return { ...result, commit: head, branch, changedByHook, left }
}

/** The commit that was just made, where others have come on top of it or below it. */
async function madeBelow(
  git: Git,
  { base, head, message }: Pick<ToLand, 'base' | 'message'> & { readonly head: string },
): Promise<LaterCommit | null> {
  const commits = await commitsBetween(git, base.head, head)
  return commits.findLast(({ subject }) => message.startsWith(`${subject}\n`)) ?? null
}

async function attempt<T>(
  action: () => Promise<T>,
): Promise<T | { readonly kind: 'failed'; readonly output: string }> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof GitError) return { kind: 'failed', output: error.stderr.trim() || error.message }
    throw error
  }
}

/** Of the project's files those that a commit may hold, as paths of the repository. */
async function notIgnored({ git, prefix }: Room, files: readonly string[]): Promise<readonly string[]> {
  const paths = files.map((file) => `${prefix}${file}`)
  // A task's own file is tracked; only beside it there may be another.
  const ignored = paths.length > 1 ? await ignoredPaths(git, paths) : new Set<string>()
  return paths.filter((path) => !ignored.has(path))
}

/** What stays staged would go into whatever the person commits next. */
async function unstage({ git }: Room): Promise<void> {
  await git.run(['reset', '--quiet'], { okCodes: [0, 1, 128] })
}

/** Writes them in place, not over a draft: git holds the old text, and a draft could be left in the tree. */
function writeTexts({ root }: Room, texts: ReadonlyMap<string, string>): () => void {
  const undo = [...texts.keys()].map((path) => remember(join(root, path)))
  for (const [path, text] of texts) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return () => {
    for (const step of undo) step()
  }
}

function remember(file: string): () => void {
  const before = existsSync(file) ? readFileSync(file) : null
  return () => {
    if (before) writeFileSync(file, before)
    else rmSync(file, { force: true })
  }
}
