import { parentPort, workerData } from 'node:worker_threads'
import { GROUP_COUNT } from './puzzle.ts'
import type { WorkerTask } from './search.ts'
import { searcherFor } from './searcher.ts'

const { puzzle, piece, counter } = workerData as WorkerTask
const searcher = searcherFor(puzzle)

for (;;) {
  const from = Atomics.add(counter, 0, 1) * piece
  if (from + piece > GROUP_COUNT) break
  const index = searcher(from, piece)
  if (index === null) continue
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  parentPort?.postMessage(index)
  break
}
