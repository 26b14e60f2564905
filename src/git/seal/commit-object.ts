import type { Algorithm } from './block-hash.ts'

/** A commit split where its seal goes: the bytes before and after. */
export interface SealPlace {
  readonly before: Buffer
  readonly after: Buffer
}

/** The trailer's key; its value is the seal or, before there is one, the prefix that the hash is to have. */
export const SEAL_KEY = 'Seal'

const SIGNATURE_HEADERS = { sha1: 'gpgsig', sha256: 'gpgsig-sha256' } as const satisfies Record<
  Algorithm,
  string
>

const PENDING_LINE = /^Seal: ([0-9a-f]{4,8})$/
const SEAL_LINE = /^Seal: (?:[0-9a-f]{4,8}|[ghjkmnp-tv-z][0-9a-hjkmnp-tv-z]{8,71})$/

/**
 * The prefix that a commit's message asks for; null if there is none. A commit whose hash does not begin with it is
 * not sealed yet.
 */
export function wantedPrefix(commit: Uint8Array): string | null {
  const lines = split(commit).message.split('\n')
  return PENDING_LINE.exec(lines[sealLine(lines)] ?? '')?.[1] ?? null
}

/**
 * Finds the place of the seal: the value of the message's last trailer or, in a signed commit, whose message cannot
 * change, a line after the signature, which git passes to the verifier but no signature covers.
 */
export function sealPlace(commit: Uint8Array, algorithm: Algorithm): SealPlace {
  const { headers, message } = split(commit)
  const signature = signatureLines(headers, algorithm)
  if (!signature) {
    const before = `${headers.join('\n')}\n\n${withoutSeal(message)}${SEAL_KEY}: `
    return { before: Buffer.from(before, 'latin1'), after: Buffer.from('\n') }
  }
  const lines = headers.slice(signature.start, signature.end)
  const kept = lines.filter((line) => !SEAL_LINE.test(line.trimStart()))
  const before = [...headers.slice(0, signature.start), ...kept, ` ${SEAL_KEY}: `].join('\n')
  const after = `\n${headers
    .slice(signature.end)
    .map((line) => `${line}\n`)
    .join('')}\n${message}`
  return { before: Buffer.from(before, 'latin1'), after: Buffer.from(after, 'latin1') }
}

/** A commit as lines. Latin-1 keeps each byte as one character, in any encoding of the message. */
function split(commit: Uint8Array): { readonly headers: readonly string[]; readonly message: string } {
  const text = Buffer.from(commit).toString('latin1')
  const end = text.indexOf('\n\n')
  if (end < 0) return { headers: text.trimEnd().split('\n'), message: '' }
  return { headers: text.slice(0, end).split('\n'), message: text.slice(end + 2) }
}

/** The lines of the signature in the headers: a header continues while lines begin with a space. */
function signatureLines(
  headers: readonly string[],
  algorithm: Algorithm,
): { start: number; end: number } | null {
  const start = headers.findIndex((line) => line.startsWith(`${SIGNATURE_HEADERS[algorithm]} `))
  if (start < 0) return null
  const length = headers.slice(start + 1).findIndex((line) => !line.startsWith(' '))
  return { start, end: length < 0 ? headers.length : start + 1 + length }
}

/**
 * The index of the line with the seal or the wanted prefix, or -1. It is after ralph's first trailer, but need not be
 * the last, as hooks may add lines; text like a seal in the notes does not count.
 */
function sealLine(lines: readonly string[]): number {
  const task = lines.findLastIndex((line) => /^Task: \S/.test(line))
  const seal = lines.findLastIndex((line) => SEAL_LINE.test(line))
  return task >= 0 && seal > task ? seal : -1
}

/** The message without a seal, up to where the trailer can be written. */
function withoutSeal(message: string): string {
  const lines = message.replace(/\n+$/, '').split('\n')
  const seal = sealLine(lines)
  if (seal >= 0) lines.splice(seal, 1)
  const text = lines.join('\n')
  if (text === '') return ''
  return endsInTrailers(lines) ? `${text}\n` : `${text}\n\n`
}

/** Whether the last paragraph consists of trailers, which the seal joins; the subject's paragraph never does. */
function endsInTrailers(lines: readonly string[]): boolean {
  const blank = lines.lastIndexOf('')
  const paragraph = lines.slice(blank + 1)
  if (blank < 1) return false
  return paragraph.every((line) =>
    /^(?:[A-Za-z0-9-]+\s*:\s|[ \t]+\S|\(cherry picked from commit )/.test(line),
  )
}
