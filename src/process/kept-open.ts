import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/** Both ends of the open terminals. By default every process that is started would inherit them. */
const ends = new Set<number>()

/** Keeps these from every process started from here on, until the returned function is called. */
export function keepFromChildren(fds: readonly number[]): () => void {
  for (const fd of fds) ends.add(fd)
  return () => {
    for (const fd of fds) ends.delete(fd)
  }
}

type Stream = number | 'ignore' | 'pipe' | 'inherit'

/** Starts a process with these streams and without the terminals' ends: Node has no other way to close them there. */
export function startWithout<Result>(
  streams: readonly Stream[],
  start: (streams: Stream[]) => Result,
): Result {
  if (ends.size === 0) return start([...streams])
  const nothing = openSync(devNull, 'r')
  try {
    const length = Math.max(streams.length, Math.max(...ends) + 1)
    const all = Array.from({ length }, (_, fd): Stream => streams[fd] ?? (ends.has(fd) ? nothing : 'ignore'))
    return start(all)
  } finally {
    closeSync(nothing)
  }
}
