import { availableParallelism } from 'node:os'
import { setImmediate as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { builtFile } from '../../base/built-file.ts'
import { GROUP_COUNT, GROUP_SIZE, type Puzzle } from './puzzle.ts'
import { searcherFor } from './searcher.ts'

/** How to search. */
interface SearchOptions {
  /** Worker threads to use; 0 searches in the calling thread, in pieces of a few milliseconds. */
  readonly threads: number
  readonly signal: AbortSignal
  /** Called with the tries so far, several times a second. */
  readonly onTries?: (tries: number) => void
}

/** The lowest index that solves the puzzle, which is also the number of tries. */
interface FoundSeal {
  readonly index: number
  readonly tries: number
}

/** The input of a worker. The counter holds the next piece; a worker that increments it owns that piece. */
export interface WorkerTask {
  readonly puzzle: Puzzle
  readonly piece: number
  readonly counter: Int32Array
}

const REPORT_MS = 200

/** As many threads as the machine has cores; none if the result comes before a thread would start. */
export function threadsFor(expectedHashes: number): number {
  return expectedHashes < 150_000 ? 0 : availableParallelism()
}

/** Searches for the lowest index that solves the puzzle; null if the signal aborts it. */
export async function search(puzzle: Puzzle, options: SearchOptions): Promise<FoundSeal | null> {
  if (options.signal.aborted) return null
  return options.threads === 0 ? searchHere(puzzle, options) : searchInWorkers(puzzle, options)
}

/** How many groups make a piece of a few milliseconds. */
export function pieceSize(puzzle: Puzzle): number {
  const blocks = 1 + puzzle.tail.length / 64
  return Math.max(1, Math.floor(64 / blocks))
}

async function searchHere(puzzle: Puzzle, options: SearchOptions): Promise<FoundSeal | null> {
  const searcher = searcherFor(puzzle)
  const piece = pieceSize(puzzle)
  for (let from = 0; from + piece <= GROUP_COUNT; from += piece) {
    const index = searcher(from, piece)
    if (index !== null) return { index, tries: index + 1 }
    options.onTries?.((from + piece) * GROUP_SIZE)
    await pause()
    if (options.signal.aborted) return null
  }
  throw exhausted()
}

async function searchInWorkers(puzzle: Puzzle, options: SearchOptions): Promise<FoundSeal | null> {
  const { signal } = options
  const piece = pieceSize(puzzle)
  const counter = new Int32Array(new SharedArrayBuffer(4))
  const stop = () => Atomics.store(counter, 0, Math.ceil(GROUP_COUNT / piece))
  const report = setInterval(
    () => options.onTries?.(Atomics.load(counter, 0) * piece * GROUP_SIZE),
    REPORT_MS,
  )
  const workers = Array.from({ length: options.threads }, () => startWorker({ puzzle, piece, counter }))
  const answers = Promise.all(workers.map((worker) => answerOf(worker, stop)))
  try {
    const found = await unlessAborted(answers, signal)
    if (!found) return null
    const index = Math.min(...found)
    if (index === Infinity) throw exhausted()
    return { index, tries: index + 1 }
  } finally {
    clearInterval(report)
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

// A worker needs none of the main thread's options, such as a loader or an inspector.
function startWorker(task: WorkerTask): Worker {
  return new Worker(builtFile('seal-worker.cjs'), { workerData: task, execArgv: [], env: {} })
}

/**
 * The result of a worker when it has ended; Infinity for none. The first solution stops the other workers only at the
 * end of their pieces, so the lowest index is the same for any timing of the threads.
 */
function answerOf(worker: Worker, stop: () => void): Promise<number> {
  return new Promise((resolve, reject) => {
    let answer = Infinity
    worker.once('message', (index: number) => {
      answer = index
      stop()
    })
    worker.once('error', reject)
    worker.once('exit', () => resolve(answer))
  })
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  let cancel = () => {}
  const aborted = new Promise<null>((resolve) => {
    cancel = () => resolve(null)
    signal.addEventListener('abort', cancel, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

function exhausted(): Error {
  return new Error('no nonce gives the wanted hash')
}
