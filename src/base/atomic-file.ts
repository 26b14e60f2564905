import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file so that whoever reads it, also after a crash, finds the old text or the new one, never a part. It
 * does not wait for the disk: file systems with a journal keep the order, so what is written later is lost first.
 * Of a file that is there already the mode stays, and a link to it stays a link.
 */
export function writeFileAtomic(path: string, text: string): void {
  const there = whatIsThere(path)
  const target = there?.target ?? path
  const draft = `${target}.${randomBytes(4).toString('hex')}.draft`
  try {
    writeDraft(draft, text)
    if (there) chmodSync(draft, there.mode)
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function whatIsThere(path: string): { readonly target: string; readonly mode: number } | null {
  try {
    const target = realpathSync(path)
    return { target, mode: statSync(target).mode & 0o7777 }
  } catch {
    return null
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
