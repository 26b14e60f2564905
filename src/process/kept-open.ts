import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/** Both ends of the terminals that are open here. The system would have every process that is started inherit them. */
const ends = new Set<number>()

/** No process that is started from here on has these, until what it returns is called. */
export function keepFromChildren(fds: readonly number[]): () => void {
  for (const fd of fds) ends.add(fd)
  return () => {
    for (const fd of fds) ends.delete(fd)
  }
}

type Stream = number | 'ignore' | 'pipe' | 'inherit'

/** Starts something with these streams, and with nothing in place of what is not for it: Node has no other way to close it there. */
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
