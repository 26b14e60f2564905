import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'

/** Writes a file so that whoever reads it, also after a crash, finds the old text or the new one, never a part. */
export function writeFileAtomic(
  path: string,
  text: string,
  options: { readonly durable?: boolean } = {},
): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}.draft`
  mkdirSync(dirname(path), { recursive: true })
  try {
    const file = openSync(draft, 'w')
    try {
      writeSync(file, text)
      // Without it a power cut can leave the new name with no content: rename(2) does not wait for the data.
      if (options.durable) fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
