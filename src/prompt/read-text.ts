import { open } from 'node:fs/promises'
import type { FoundFile } from './locate.ts'
import { HUGE_BYTES, type ShownReason } from './material.ts'

/** A file's text, or why it cannot be shown. */
type TextReading = { readonly text: string } | { readonly reason: ShownReason }

/** The first bytes show whether a file is text, without reading all of it. */
const SNIFFED_BYTES = 4096

/** Reads a text file without its byte order mark. */
export async function readText(file: FoundFile): Promise<TextReading> {
  if (file.bytes > HUGE_BYTES) return { reason: 'huge' }
  try {
    const bytes = await readUnlessBinary(file.absolute)
    return bytes ? { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) } : { reason: 'binary' }
  } catch (error) {
    return { reason: error instanceof TypeError ? 'binary' : 'unreadable' }
  }
}

/** The bytes of a file, or null if one of them is 0. */
async function readUnlessBinary(path: string): Promise<Buffer | null> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES)
    const head = buffer.subarray(0, bytesRead)
    if (head.includes(0)) return null
    const rest = bytesRead < SNIFFED_BYTES ? Buffer.alloc(0) : await handle.readFile()
    return rest.includes(0) ? null : Buffer.concat([head, rest])
  } finally {
    await handle.close()
  }
}
