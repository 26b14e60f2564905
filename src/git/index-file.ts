import type { Repository } from './repository.ts'

/** What git's index says of a file that it has read. */
export interface IndexEntry {
  readonly path: string
  /** As git writes it: `100644`. */
  readonly mode: string
  readonly oid: string
  /** When the file, or what the system says of it, had last changed: in nanoseconds. */
  readonly changed: bigint
}

const HEADER = 12
/** Where an entry's parts begin: times and numbers of 4 bytes each, then the object's name. */
const MODE = 24
const OID = 40
/** The kinds of files and links; the others are submodules, and folders of a sparse index. */
const KINDS: ReadonlySet<number> = new Set([0o10, 0o12])

/**
 * The files that had last changed in this second or later when git read them, from the bytes of an index. Files that are
 * flagged to be taken as unchanged are left out. An index that is not whole is read as far as it goes: git reports it.
 */
export function changedSince(
  bytes: Buffer,
  since: number,
  { objectFormat }: Pick<Repository, 'objectFormat'>,
): readonly IndexEntry[] {
  const oidLength = objectFormat === 'sha256' ? 32 : 20
  if (bytes.length < HEADER) return []
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)]
  const found: IndexEntry[] = []
  let path: Buffer = Buffer.alloc(0)
  let at = HEADER
  for (let i = 0; i < count && at + OID + oidLength + 4 < bytes.length; i++) {
    const start = at
    const flags = bytes.readUInt16BE(at + OID + oidLength)
    const isExtended = (flags & 0x4000) !== 0
    at += OID + oidLength + (isExtended ? 4 : 2)
    if (version === 4) {
      const removed = readNumber(bytes, at)
      const end = bytes.indexOf(0, removed.end)
      if (end < 0) break
      path = Buffer.concat([path.subarray(0, path.length - removed.value), bytes.subarray(removed.end, end)])
      at = end + 1
    } else {
      const end = bytes.indexOf(0, at)
      if (end < 0) break
      path = bytes.subarray(at, end)
      // One to eight zeros, up to a multiple of eight bytes.
      at = start + Math.ceil((end - start + 1) / 8) * 8
    }
    const seconds = bytes.readUInt32BE(start)
    const mode = bytes.readUInt32BE(start + MODE)
    const isLookedAt = (flags & 0xb000) === 0 && !isExtended
    if (seconds < since || !isLookedAt || !KINDS.has(mode >> 12)) continue
    found.push({
      path: path.toString(),
      mode: mode.toString(8),
      oid: bytes.toString('hex', start + OID, start + OID + oidLength),
      changed: BigInt(seconds) * 1_000_000_000n + BigInt(bytes.readUInt32BE(start + 4)),
    })
  }
  return found
}

/** A number of as many bytes as it needs: seven bits each, and one that says whether another follows. */
function readNumber(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let at = start
  let byte = bytes[at++] ?? 0
  let value = byte & 127
  while (byte & 128) {
    byte = bytes[at++] ?? 0
    value = ((value + 1) << 7) | (byte & 127)
  }
  return { value, end: at }
}
