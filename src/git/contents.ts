import type { Git } from './git.ts'

/** The blobs of files by name (`4b825dc:./docs/a.md`), read in one or two processes; missing files are left out. */
export async function contentsOf(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  // git would read a name with a line break as two names.
  const files = [...new Set(names)].filter((name) => !name.includes('\n'))
  const middle = files.length > MANY ? Math.ceil(files.length / 2) : files.length
  const blobs = new Map<string, Buffer>()
  const take = (name: string, bytes: Buffer): void => void blobs.set(name, bytes)
  await Promise.all([read(git, files.slice(0, middle), take), read(git, files.slice(middle), take)])
  return blobs
}

// Finding a path in a commit takes git a while, and there is usually a second core.
const MANY = 200

async function read(
  git: Git,
  names: readonly string[],
  take: (name: string, bytes: Buffer) => void,
): Promise<void> {
  if (names.length === 0) return
  const onOutput = contentReader(names, take)
  await git.run(['cat-file', '--batch', '--buffer'], { stdin: `${names.join('\n')}\n`, onOutput })
}

/** Cuts git's output, which comes in chunks, into the contents of these names; copies only what is in two chunks. */
function contentReader(
  names: readonly string[],
  take: (name: string, bytes: Buffer) => void,
): (chunk: Buffer) => void {
  let next = 0
  /** Takes what is whole, and returns where the rest begins, and its length in the end: 0 for not yet known. */
  const cut = (bytes: Buffer): { readonly at: number; readonly length: number } => {
    for (let at = 0; ;) {
      const end = bytes.indexOf(LINE_FEED, at)
      if (end < 0) return { at, length: 0 }
      const { size, isBlob } = headEndingAt(bytes, end)
      const after = end + 1 + (size < 0 ? 0 : size + 1)
      if (after > bytes.length) return { at, length: after - at }
      const name = names[next++]!
      // The name may be that of a folder.
      if (isBlob) take(name, bytes.subarray(end + 1, after - 1))
      at = after
    }
  }
  let [pieces, length, wanted]: [Buffer[], number, number] = [[], 0, 0]
  return (chunk) => {
    for (let rest = chunk; rest.length > 0;) {
      const missing = wanted > 0 ? wanted - length : rest.indexOf(LINE_FEED) + 1 || rest.length
      const piece = length === 0 ? rest : rest.subarray(0, missing)
      rest = rest.subarray(piece.length)
      pieces.push(piece)
      length += piece.length
      if (length < wanted) return
      const bytes = pieces.length === 1 ? piece : Buffer.concat(pieces, length)
      const left = cut(bytes)
      pieces = left.at === bytes.length ? [] : [bytes.subarray(left.at)]
      length = bytes.length - left.at
      wanted = left.length
    }
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
