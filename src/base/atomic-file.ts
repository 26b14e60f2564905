import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file so that whoever reads it, also after a crash, finds the old text or the new one, never a part. It
 * does not wait for the disk: file systems with a journal keep the order, so what is written later is lost first.
 */
export function writeFileAtomic(path: string, text: string): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}.draft`
  try {
    writeDraft(draft, text)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function writeDraft(draft: string, text: string): void {
  try {
    writeFileSync(draft, text)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    mkdirSync(dirname(draft), { recursive: true })
    writeFileSync(draft, text)
  }
}
