import { realpathSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repository } from '../git/repository.ts'
import type { Checkpoint } from './checkpoint.ts'
import { openInspect } from './inspect.ts'
import type { Workspace } from './port.ts'
import { openRecorder } from './record.ts'
import { openRestore } from './restore.ts'
import { WorkspaceState } from './state.ts'

/**
 * Opens a repository's work tree as a workspace: `git` runs at its top, the project may be below it. Calls `checkpoint`
 * between two side effects.
 */
export function openWorkspace(
  git: Git,
  repository: Repository,
  root: string,
  checkpoint: (name: Checkpoint) => void = () => undefined,
): Workspace {
  const inside = relative(realpathSync(repository.root), realpathSync(root)).split(sep).join('/')
  const state = new WorkspaceState(git, repository, { root, prefix: inside === '' ? '' : `${inside}/` })
  return assemble(state, checkpoint)
}

/** Assembles the parts of a workspace around their shared state. */
export function assemble(state: WorkspaceState, checkpoint: (name: Checkpoint) => void): Workspace {
  const inspect = openInspect(state)
  return {
    root: state.root,
    prefix: state.prefix,
    inspect,
    record: openRecorder(state, inspect, checkpoint),
    restore: openRestore(state),
  }
}
