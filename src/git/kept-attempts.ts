import { listAttempts } from './attempts.ts'
import type { Git } from './git.ts'
import { attemptRecord } from './record.ts'
import type { AttemptRecord } from './record.ts'

/** Every attempt that is kept, by task and number; of one task, where it is given. */
export async function keptAttempts(git: Git, task?: string): Promise<readonly AttemptRecord[]> {
  return (await listAttempts(git, task)).flatMap((kept) => attemptRecord(kept) ?? [])
}
