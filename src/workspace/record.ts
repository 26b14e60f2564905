import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commit, type CommitResult } from '../git/commit.ts'
import { GitError, type Git } from '../git/git.ts'
import { moveBranch } from '../git/head.ts'
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
import { changedPaths, treeWithoutFilters } from '../git/tree.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { FilesToCommit, Inspect, Landing, Recorder, ToKeep, ToLand, Work } from './port.ts'
import type { WorkspaceState } from './state.ts'

/** Makes the recorder of a workspace, which makes its commits. */
export function openRecorder(
  state: WorkspaceState,
  inspect: Inspect,
  checkpoint: (name: Checkpoint) => void,
): Recorder {
  const { git, refs } = state
  const dropped = new Map<string, string>()
  return {
    async keep(attempt) {
      const { task, number } = attempt.facts
      const tree = await exactTree(state, attempt.work)
      return keep(state, attempt, { ref: attemptRef(task, number), tree })
    },
    async candidate({ token, ...attempt }) {
      const { task, number } = attempt.facts
      const ref = candidateRef(task, number, token)
      return keep(state, attempt, { ref, tree: attempt.work.tree })
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
    land: (request) => land(state, request, { inspect, checkpoint }),
    async commitTexts({ texts, message, signal }) {
      const undo = writeTexts(state, texts)
      checkpoint('file-blocked')
      const paths = [...texts.keys()].map((path) => `${state.prefix}${path}`)
      const result = await commitFiles(state, inspect, { paths, message, signal })
      if (result.kind !== 'committed') undo()
      return result
    },
    commitFiles: (request) => commitFiles(state, inspect, request),
  }
}

async function commitFiles(
  state: WorkspaceState,
  inspect: Inspect,
  { paths, message, signal }: FilesToCommit,
): Promise<CommitResult & { readonly head: string | null }> {
  const result = await commit(state.git, { message, paths, signal })
  if (result.kind !== 'committed') {
    await unstage(state)
    return { ...result, head: null }
  }
  if (state.isAdopted) await state.own.take(paths)
  return { ...result, head: (await inspect.status()).head }
}

async function keep(
  state: WorkspaceState,
  { facts, work, at, replaces, commits = [] }: ToKeep,
  { ref, tree }: { readonly ref: string; readonly tree: string },
): Promise<KeptAttempt> {
  const earlier = replaces ? [replaces.commit] : []
  const parents = [...new Set([work.base.head, ...(work.head?.commits ?? []), ...earlier, ...commits])]
  // A record may replace an earlier one only on the same ref; on another ref the earlier one is just its parent.
  const before = replaces?.ref === ref ? replaces.commit : null
  const message = attemptMessage(facts)
  const hash = await keepCommit(state.git, { ref, tree, message, parents, replaces: before })
  state.refs.set(ref, hash)
  return { ...facts, ref, commit: hash, parents, tree, keptAt: Math.floor(at.getTime() / 1000) }
}

/**
 * The tree byte for byte. Attributes that the attempt added (line ends, filters, `ident`) make git store other
 * bytes than the files have, and a record must hold the files' bytes.
 */
async function exactTree(state: WorkspaceState, { tree, base, changes }: Work): Promise<string> {
  if (!changes.some(({ path }) => isAttributes(path))) return tree
  const scratch = join(state.repository.gitDir, 'ralph-index-exact')
  try {
    return await treeWithoutFilters(state.own.git.with({ env: { GIT_INDEX_FILE: scratch } }), base.head, tree)
  } finally {
    rmSync(scratch, { force: true })
  }
}

/** Whether that file decides how git stores others. */
export function isAttributes(path: string): boolean {
  return path === '.gitattributes' || path.endsWith('/.gitattributes')
}

/** Makes the task's commit of the checked tree, and inspects the result. */
async function land(
  state: WorkspaceState,
  { base, tree, texts, message, signal }: ToLand,
  { inspect, checkpoint }: { readonly inspect: Inspect; readonly checkpoint: (name: Checkpoint) => void },
): Promise<Landing> {
  const { git, own, places } = state
  const undo = writeTexts(state, texts)
  checkpoint('file-completed')
  const result = await attempt(async () => {
    await own.take(await notIgnored(state, [...texts.keys()]))
    await own.publish()
    // The hooks as they were when the run began: an agent may have changed the setting.
    const door = places ? git.with({ settings: { 'core.hooksPath': places.hooks } }) : git
    return commit(door, { message, signal })
  })
  if (result.kind !== 'committed') {
    undo()
    await own.hold(tree)
    await unstage(state)
    return result
  }
  checkpoint('committed')
  const { head, branch, entries } = await inspect.status()
  if (head === null) throw new Error('there is no commit after one was made')
  const made = head.startsWith(result.commit) ? head : await resolve(git, result.commit)
  const { tree: madeTree, parents } = await state.commitAt(made)
  const [parent] = parents
  if (parent !== undefined && parent !== base.head && made === head) {
    // Somebody committed in the last moment. Their commit stays, and this one is made again on top of it.
    await moveBranch(git, { branch, from: made, to: parent }, 'ralph: another commit came first')
    undo()
    await own.hold(tree)
    await unstage(state)
    return { kind: 'moved' }
  }
  const changed = entries.filter(({ staged }) => staged).map(({ path }) => path)
  // If another commit is on top, compare the index with the commit made here.
  const changedByHook = made === head ? changed : await changedPaths(git, await own.tree(), madeTree)
  if (changed.length > 0) await own.hold(head)
  else own.holds(madeTree)
  state.hasTree(made, madeTree)
  const left = entries.filter(
    (entry) =>
      entry.unstaged && !changed.includes(entry.path) && !(entry.nested && entry.kind === 'untracked'),
  )
  return { ...result, commit: made, isTop: made === head, branch, changedByHook, left }
}

/** The full hash of a commit. */
async function resolve(git: Git, commit: string): Promise<string> {
  return (await git.run(['rev-parse', '--verify', commit])).stdout.toString().trim()
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

/** Those of the project's files that a commit may hold, as paths in the repository. */
async function notIgnored(
  { git, prefix }: WorkspaceState,
  files: readonly string[],
): Promise<readonly string[]> {
  const paths = files.map((file) => `${prefix}${file}`)
  // A task's own file is tracked; only a second file can be ignored.
  const ignored = paths.length > 1 ? await ignoredPaths(git, paths) : new Set<string>()
  return paths.filter((path) => !ignored.has(path))
}

/** Unstages everything: what stays staged would go into the person's next commit. */
async function unstage({ git }: WorkspaceState): Promise<void> {
  await git.run(['reset', '--quiet'], { okCodes: [0, 1, 128] })
}

/**
 * Writes the texts in place, without a temporary file that could be left in the tree: git has the old texts. Returns
 * what undoes that.
 */
function writeTexts({ root }: WorkspaceState, texts: ReadonlyMap<string, string>): () => void {
  const undo = [...texts].map(([path, text]) => remember(join(root, path), text))
  for (const [path, text] of texts) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return () => {
    for (const step of undo) step()
  }
}

function remember(file: string, text: string): () => void {
  const before = existsSync(file) ? readFileSync(file) : null
  return () => {
    // Somebody may have edited the file meanwhile.
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) return
    if (before) writeFileSync(file, before)
    else rmSync(file, { force: true })
  }
}
