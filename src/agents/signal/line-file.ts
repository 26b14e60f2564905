import {
  appendFileSync,
  closeSync,
  fstatSync,
  openSync,
  readSync,
  watch,
  writeSync,
  type FSWatcher,
} from 'node:fs'
import { dirname } from 'node:path'
import { StringDecoder } from 'node:string_decoder'

/** How soon a change is seen that the system does not report. */
const LOOK_MS = 200
/** Data beyond this is ignored: nobody would read it. */
const MOST_BYTES = 16 * 1024 * 1024
const LONGEST_LINE = 1024 * 1024

/** Opens a file that grows by whole lines, once: a file that later replaces it gets nothing. */
export function openForLines(path: string) {
  const file = openSync(path, 'a', 0o600)
  return {
    append: (line: object): void => void writeSync(file, `${JSON.stringify(line)}\n`),
    close: () => closeSync(file),
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

/** Calls back for each line of a growing file, first for the existing ones; returns a function that stops it. */
export function followLines(path: string, onLine: (line: string) => void): () => void {
  const file = openSync(path, 'r')
  const decoder = new StringDecoder('utf8')
  const buffer = Buffer.alloc(64 * 1024)
  let [position, rest] = [0, '']
  let closed = false
  const read = (): void => {
    if (closed) return
    while (position < MOST_BYTES && fstatSync(file).size > position) {
      const length = readSync(file, buffer, 0, buffer.length, position)
      if (length === 0) return
      position += length
      const lines = (rest + decoder.write(buffer.subarray(0, length))).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > LONGEST_LINE) rest = ''
      for (const line of lines) if (line.trim() !== '') onLine(line)
    }
  }
  const timer = setInterval(read, LOOK_MS)
  const watcher = watchFolder(dirname(path), read)
  read()
  return () => {
    if (closed) return
    // The last lines may not have been reported yet.
    read()
    closed = true
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
