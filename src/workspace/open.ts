import { realpathSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repository } from '../git/repository.ts'
import type { Checkpoint } from './checkpoint.ts'
import { openInspect } from './inspect.ts'
import type { Workspace } from './port.ts'
import { openRecorder } from './record.ts'
import { openRestore } from './restore.ts'
import { Room } from './room.ts'

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
  const room = new Room(git, repository, { root, prefix: inside === '' ? '' : `${inside}/` })
  return assemble(room, checkpoint)
}

/** Assembles the parts of a workspace around their shared state. */
export function assemble(room: Room, checkpoint: (name: Checkpoint) => void): Workspace {
  const inspect = openInspect(room)
  return {
    root: room.root,
    prefix: room.prefix,
    inspect,
    record: openRecorder(room, inspect, checkpoint),
    restore: openRestore(room),
  }
}
