import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import { UserError } from '../../base/errors.ts'
import { textAt } from '../../base/read-file.ts'
import { parsedJson } from '../../base/text.ts'
import { endLeftovers, type RunTrace } from '../../process/tree.ts'
import { lockOwner, takeLock } from '../../process/lock.ts'
import type { RunPorts } from '../ports.ts'

/** A slot that one worker has as long as it lives: several workers of one clone have different ones. */
export type TakenSlot = NonNullable<Awaited<ReturnType<typeof takeSlot>>>

/** The workspaces of a run count from 0; the ports of gates depend on the number. */
const FIRST = 101
const LAST = 400

/** Takes this many workspaces, and ends what a dead worker has left running in them. */
export async function takeSlots(
  folder: string,
  { count, pid, now }: { count: number; pid: number; now: Date },
) {
  mkdirSync(folder, { recursive: true })
  const slots: TakenSlot[] = []
  for (let number = FIRST; number <= LAST && slots.length < count; number++) {
    const slot = await takeSlot(folder, number, { pid, now })
    if (slot) slots.push(slot)
  }
  if (slots.length === count) return slots
  for (const slot of slots) slot.release()
  throw new UserError('no slot is free for another worker on this machine', 'Take fewer --jobs.')
}

/** Whether a worker has the workspace of that number. */
export async function isTaken(folder: string, number: number): Promise<boolean> {
  return (await lockOwner(lockOf(folder, number)))?.alive ?? false
}

/** Removes the files beside a workspace that no worker has. */
export function forgetSlot(folder: string, number: number): void {
  for (const path of [lockOf(folder, number), traceOf(folder, number)]) rmSync(path, { force: true })
}

async function takeSlot(folder: string, number: number, me: Parameters<typeof takeLock>[1]) {
  if (await isTaken(folder, number)) return null
  const lock = await takeLock(lockOf(folder, number), me).catch((error: unknown) => {
    if (error instanceof UserError) return null
    throw error
  })
  if (!lock) return null
  const trace = traceOf(folder, number)
  const forget = (): void => rmSync(trace, { force: true })
  // Only ralph writes there.
  const left = parsedJson(textAt(trace)) as RunTrace | undefined
  if (left) await endLeftovers(left)
  forget()
  return {
    number,
    /**
     * Notes what is started there, so that the workspace's next holder ends what a kill has left; the returned function
     * ends that.
     */
    follow({ mark, onStarted }: Pick<RunPorts, 'mark' | 'onStarted'>): () => void {
      const end = onStarted((processes) =>
        writeFileAtomic(trace, JSON.stringify({ mark, processes } satisfies RunTrace)),
      )
      return () => {
        end()
        forget()
      }
    },
    release: () => lock.release(),
  }
}

function lockOf(folder: string, number: number): string {
  return join(folder, `${number}.lock`)
}

/** The note beside the workspace, where no job works. */
function traceOf(folder: string, number: number): string {
  return join(folder, `${number}.run.json`)
}
