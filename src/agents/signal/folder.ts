import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  openSync,
  readSync,
  watch,
  writeFileSync,
  writeSync,
  type FSWatcher,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { removeOrLeave } from '../../base/remove.ts'
import { LineSplitter } from '../../base/stream.ts'
import {
  readSignal,
  SIGNAL_FILES,
  SIGNAL_VARIABLES,
  type Reply,
  type Signal,
  type SignalResource,
  type Withdrawal,
} from './signal.ts'

/** The folder for an attempt's signals, on ralph's side: its files are opened before any agent starts. */
export type SignalFolder = ReturnType<typeof openSignalFolder>

/** Opens the folder for one attempt, in an empty folder that only this user can open. */
export function openSignalFolder(
  path: string,
  resources: readonly SignalResource[],
  { said, refused }: { said: (signal: Signal | Withdrawal) => void; refused: (why: string) => void },
) {
  const token = randomBytes(16).toString('hex')
  const at = (name: string): string => join(path, name)
  writeFileSync(at(SIGNAL_FILES.said), '', { mode: 0o600 })
  writeFileSync(at(SIGNAL_FILES.resources), JSON.stringify(resources), { mode: 0o600 })
  // Opened once: a file that later replaces it gets nothing.
  const replies = openSync(at(SIGNAL_FILES.replies), 'a', 0o600)
  const reply = (line: Reply): void => void writeSync(replies, `${JSON.stringify(line)}\n`)
  const unfollow = followLines(at(SIGNAL_FILES.said), (line) => {
    const read = readSignal(line, token)
    if ('said' in read) return said(read.said)
    if (read.id !== null) reply({ id: read.id, ok: false, text: `Refused: ${read.wrong}.` })
    refused(read.wrong)
  })
  return {
    path,
    /** The environment that connects the server to it. */
    env: { [SIGNAL_VARIABLES.folder]: path, [SIGNAL_VARIABLES.token]: token },
    reply,
    /** Ends it: later signals are not read. */
    close() {
      unfollow()
      closeSync(replies)
      removeOrLeave(path)
    },
  }
}

/** Appends one line to an existing file; returns false if there is none. */
export function appendLine(path: string, line: object): boolean {
  try {
    appendFileSync(path, `${JSON.stringify(line)}\n`, { flag: 'a' })
    return true
  } catch {
    return false
  }
}

/** How soon a change is seen that the system does not report. */
const LOOK_MS = 200
/** Data beyond this is ignored: nobody would read it. */
const MOST_BYTES = 16 * 1024 * 1024
const LONGEST_LINE = 1024 * 1024

/** Calls back for each line of a growing file, first for the existing ones; returns a function that stops it. */
export function followLines(path: string, onLine: (line: string) => void): () => void {
  const file = openSync(path, 'r')
  const lines = new LineSplitter(LONGEST_LINE)
  const buffer = Buffer.alloc(64 * 1024)
  let position = 0
  let isClosed = false
  const read = (): void => {
    if (isClosed) return
    while (position < MOST_BYTES) {
      const length = readSync(file, buffer, 0, buffer.length, position)
      if (length === 0) return
      position += length
      for (const line of lines.push(buffer.subarray(0, length))) if (line.trim() !== '') onLine(line)
    }
  }
  const timer = setInterval(read, LOOK_MS)
  const watcher = watchFolder(dirname(path), read)
  read()
  return () => {
    if (isClosed) return
    // The last lines may not have been reported yet.
    read()
    isClosed = true
    clearInterval(timer)
    watcher?.close()
    closeSync(file)
  }
}

/** Not every file system reports changes: then polling must do. */
function watchFolder(folder: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}
