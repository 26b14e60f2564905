import type { Algorithm } from './block-hash.ts'

/** A commit cut open where its seal goes: what comes before and what comes after. */
export interface SealPlace {
  readonly before: Buffer
  readonly after: Buffer
}

/** The trailer's key; its value is the seal or, until there is one, the prefix that the hash is to have. */
export const SEAL_KEY = 'Seal'

const SIGNATURE_HEADERS = { sha1: 'gpgsig', sha256: 'gpgsig-sha256' } as const satisfies Record<
  Algorithm,
  string
>

const PENDING_LINE = /^Seal: ([0-9a-f]{4,8})$/
const SEAL_LINE = /^Seal: (?:[0-9a-f]{4,8}|[ghjkmnp-tv-z][0-9a-hjkmnp-tv-z]{8,71})$/

/**
 * The prefix that a commit was made for, from its message; null where there is none. Of a commit whose hash does not
 * begin with it the seal is unfinished.
 */
export function wantedPrefix(commit: Uint8Array): string | null {
  const lines = split(commit).message.split('\n')
  return PENDING_LINE.exec(lines[sealLine(lines)] ?? '')?.[1] ?? null
}

/**
 * Finds the seal's place: the value of the message's last trailer or, in a signed commit, whose message cannot change,
 * a line behind the signature's last, which git hands to the verifier but no signature covers.
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

/** A commit as lines. Latin-1 keeps each byte as one character, whatever the message's encoding is. */
function split(commit: Uint8Array): { readonly headers: readonly string[]; readonly message: string } {
  const text = Buffer.from(commit).toString('latin1')
  const end = text.indexOf('\n\n')
  if (end < 0) return { headers: text.trimEnd().split('\n'), message: '' }
  return { headers: text.slice(0, end).split('\n'), message: text.slice(end + 2) }
}

/** The lines of the signature among the headers: a header goes on for as long as lines begin with a space. */
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
 * The line that holds the seal or the wish for one, or -1. It stands somewhere behind ralph's first trailer: hooks add
 * to the end as they like, and what reads like a seal in the notes is none.
 */
function sealLine(lines: readonly string[]): number {
  const task = lines.findLastIndex((line) => /^Task: \S/.test(line))
  const seal = lines.findLastIndex((line) => SEAL_LINE.test(line))
  return task >= 0 && seal > task ? seal : -1
}

/** The message without the seal it may have, ending where the trailer can be written. */
function withoutSeal(message: string): string {
  const lines = message.replace(/\n+$/, '').split('\n')
  const seal = sealLine(lines)
  if (seal >= 0) lines.splice(seal, 1)
  const text = lines.join('\n')
  if (text === '') return ''
  return endsInTrailers(lines) ? `${text}\n` : `${text}\n\n`
}

/** Whether the last paragraph is one of trailers, which the seal joins; the subject's paragraph never is. */
function endsInTrailers(lines: readonly string[]): boolean {
  const blank = lines.lastIndexOf('')
  const paragraph = lines.slice(blank + 1)
  if (blank < 1) return false
  return paragraph.every((line) =>
    /^(?:[A-Za-z0-9-]+\s*:\s|[ \t]+\S|\(cherry picked from commit )/.test(line),
  )
}
