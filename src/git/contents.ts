import type { Git } from './git.ts'

/** The blobs of files by name (`4b825dc:./docs/a.md`), read in one or two processes; missing files are left out. */
export async function contentsOf(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  // git would read a name with a line break as two names.
  const files = [...new Set(names)].filter((name) => !name.includes('\n'))
  const middle = files.length > MANY ? Math.ceil(files.length / 2) : files.length
  const blobs = new Map<string, Buffer>()
  await Promise.all([readInto(blobs, git, files.slice(0, middle)), readInto(blobs, git, files.slice(middle))])
  return blobs
}

// Finding a path in a commit takes git a while, and there is usually a second core.
const MANY = 200

async function readInto(blobs: Map<string, Buffer>, git: Git, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const { stdout } = await git.run(['cat-file', '--batch', '--buffer'], { stdin: `${names.join('\n')}\n` })
  let at = 0
  for (const name of names) {
    const end = stdout.indexOf(LINE_FEED, at)
    const { size, isBlob } = headEndingAt(stdout, end)
    at = end + 1
    if (size < 0) continue
    // The name may be that of a folder.
    if (isBlob) blobs.set(name, stdout.subarray(at, at + size))
    at += size + 1
  }
}

const [LINE_FEED, BLANK, ZERO, NINE] = [10, 32, 48, 57]

/** Reads the line before a content from its end, `… blob 1234`; a missing name has no size. */
function headEndingAt(bytes: Buffer, end: number): { readonly size: number; readonly isBlob: boolean } {
  let [size, place, at] = [0, 1, end - 1]
  for (; bytes[at]! >= ZERO && bytes[at]! <= NINE; at--, place *= 10) size += (bytes[at]! - ZERO) * place
  if (place === 1 || bytes[at] !== BLANK) return { size: -1, isBlob: false }
  return { size, isBlob: bytes.toString('latin1', at - 5, at) === ' blob' }
}
