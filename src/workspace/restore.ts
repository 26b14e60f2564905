import { cpSync, existsSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { GitError } from '../git/git.ts'
import { isAncestor, mergeBase, moveBranch, restoreHead, type Base } from '../git/head.ts'
import { allIgnored, quitOperation } from '../git/repository.ts'
import { restoreTree, standing } from '../git/restore.ts'
import { broughtSince, changedPaths } from '../git/tree.ts'
import { afterKill, guard, locksIn, moveLocks } from './guard.ts'
import { clearSubmodules } from './submodules.ts'
import type { Displaced, Restore, Work } from './port.ts'
import type { WorkspaceState } from './state.ts'
import { settingsPlaces } from './settings.ts'

const WHY = 'ralph: back to where the attempt began'

/** Makes the part of a workspace that brings it back to an earlier state. */
export function openRestore(state: WorkspaceState): Restore {
  const { git, own, repository, root, aside, refs } = state
  return {
    async adopt(person) {
      if (person) {
        await own.mend()
        state.protect(person)
        await noteSettings(state)
        state.isAdopted = true
        return person
      }
      own.adopt()
      const found = {
        ignored: await allIgnored(git),
        since: statSync(join(repository.gitDir, 'ralph-index')).ctimeMs,
        misspelled: [...(await own.respelled()).keys()],
      }
      state.protect(found)
      await noteSettings(state)
      await refs.note()
      state.isAdopted = true
      return found
    },
    guard: async () => guard(state),
    afterKill: (dead) => afterKill(state, dead),
    setAside(paths) {
      for (const path of paths) aside.add(path)
    },
    async head(base, work) {
      for (const operation of work.operations) await quitOperation(git, operation)
      if (!work.head) return true
      try {
        await restoreHead(git, base, { tip: work.head.tip, why: WHY })
        return true
      } catch (error) {
        if (error instanceof GitError) return false
        throw error
      }
    },
    async commit({ commit, branch }) {
      const [parent] = (await state.commitAt(commit)).parents
      if (parent === undefined) throw new Error(`${commit} has no parent to go back to`)
      await moveBranch(git, { branch, from: commit, to: parent }, WHY)
      await own.hold(parent)
    },
    leave() {
      state.isAdopted = false
    },
    lostByGoingBack: (base, work) => lostByGoingBack(state, base, work),
    async files(base, paths) {
      if (paths.length === 0) return
      // git does not remove files that it does not know.
      const present = paths.filter((path) => standing(repository.root, path))
      if (present.length > 0) await own.take(present)
      await own.restore(base.head, paths)
    },
    staged: () => own.rememberPersons(),
    async difference({ from, to, except }) {
      const changed = await changedPaths(git, to, from)
      const paths = changed.filter((path) => !except.includes(path))
      if (paths.length === 0) return null
      const keepIn = freeFolder(join(root, '.ralph', 'set-aside'))
      const present = paths.filter((path) => standing(repository.root, path))
      for (const path of present)
        cpSync(join(repository.root, path), join(keepIn, path), { recursive: true, verbatimSymlinks: true })
      if (present.length > 0) await own.take(present)
      await own.restore(to, paths)
      return { folder: relative(root, keepIn).replaceAll('\\', '/'), paths }
    },
    async tree({ recorded, to }) {
      // Beside the log, in a folder that git does not see.
      const keepIn = freeFolder(join(root, '.ralph', 'set-aside'))
      const { tree } = await own.takeAll(await outsiders(state))
      if (tree !== recorded) return null
      const inside = await clearSubmodules(state.git, await own.status(), keepIn)
      const moved = await restoreTree(own.git, { from: recorded, to, keepIn })
      const displaced = [...inside, ...moved]
      own.holds(await state.treeOf(to))
      await own.publish()
      state.misspelled = new Set((await own.respelled()).keys())
      return displaced.length === 0
        ? []
        : ([{ folder: relative(root, keepIn), paths: displaced }] satisfies Displaced[])
    },
    locks: (since, keepIn, which) =>
      moveLocks(
        locksIn(state).filter((lock) => {
          const isWanted = which === 'all' || basename(lock) !== 'index.lock'
          return isWanted && (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since.getTime()
        }),
        keepIn,
      ),
  }
}

async function noteSettings(state: WorkspaceState): Promise<void> {
  state.places = await settingsPlaces(state.git, state.repository, state.isOwn)
}

/** What is in no tree: repositories that somebody made here, and unrelated files. */
async function outsiders({ own, aside }: WorkspaceState): Promise<readonly string[]> {
  const { entries } = await own.status()
  const nested = entries.filter((entry) => entry.nested && entry.kind === 'untracked')
  return [...nested.map(({ path }) => path), ...aside]
}

async function lostByGoingBack({ git }: WorkspaceState, base: Base, work: Work): Promise<readonly string[]> {
  const at = work.head?.at
  if (!at || at === base.head || (await isAncestor(git, base.head, at))) return []
  const touched = new Set(await changedPaths(git, at, work.tree))
  // What its own commits added since the merge base, as an amended commit does, is its work.
  const own = new Set(await broughtSince(git, await mergeBase(git, base.head, at), at))
  return (await changedPaths(git, at, base.head)).filter((path) => !touched.has(path) && !own.has(path))
}

/** The first numbered folder that does not exist yet. */
function freeFolder(parent: string): string {
  let number = 1
  while (existsSync(join(parent, String(number)))) number++
  return join(parent, String(number))
}
