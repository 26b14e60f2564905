import { readFile } from 'node:fs/promises'
import type { Found } from './locate.ts'
import { HUGE_BYTES, type Reason } from './material.ts'

/** A file's text, or why it cannot be shown. A byte order mark is no part of the text. */
export async function readText(
  file: Found,
): Promise<{ readonly text: string } | { readonly reason: Reason }> {
  if (file.bytes > HUGE_BYTES) return { reason: 'huge' }
  try {
    const bytes = await readFile(file.absolute)
    if (bytes.includes(0)) return { reason: 'binary' }
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    return { reason: error instanceof TypeError ? 'binary' : 'unreadable' }
  }
}
