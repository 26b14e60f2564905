import { fstatSync, statSync, writeSync } from 'node:fs'
import { UserError } from '../base/errors.ts'
import type { Outlet } from './io.ts'

/** One of the process's two output streams, as bin.ts knows it. */
export interface OutletSource {
  readonly fd: number
  /** Opens Node's own stream, which costs as much as all else that a short command does. */
  readonly open: () => NodeJS.WriteStream
  /** Called when the reader has gone: `ralph list | head`. */
  readonly onClosed: () => void
}

/** Writes at once and in order; Node's stream is opened only for a terminal, or where the other end is slow. */
export function createOutlet({ fd, open, onClosed }: OutletSource): Outlet {
  const opened = once(() => open().on('error', closedOr(onClosed)))
  const mayBeTerminal = once(() => isTerminalLike(fd))
  let queued = false
  return {
    get columns() {
      return mayBeTerminal() && opened().isTTY ? opened().columns || 80 : null
    },
    write(text) {
      const rest = queued || mayBeTerminal() ? Buffer.from(text) : writeNow(fd, Buffer.from(text), onClosed)
      if (rest.length === 0) return
      queued = true
      opened().write(rest)
    },
  }
}

/** What could not be written without waiting. */
function writeNow(fd: number, bytes: Buffer, onClosed: () => void): Buffer {
  let rest = bytes
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EPIPE') onClosed()
    else if (code !== 'EAGAIN') {
      throw new UserError(
        `what ralph says cannot be written (${String(code)})`,
        'Look whether the disk is full, and what its output was sent to.',
      )
    }
  }
  return rest
}

function closedOr(onClosed: () => void): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== 'EPIPE') throw error
    onClosed()
  }
}

function isTerminalLike(fd: number): boolean {
  try {
    const stats = fstatSync(fd)
    // What nobody reads is a device too, and no terminal: it is worth no stream. (node:os knows its name, in 2 ms.)
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev
  } catch {
    // A closed descriptor, or a system without that device: Node's stream knows what to do.
    return true
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
