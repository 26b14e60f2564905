import { withoutControls } from '../base/text.ts'

/** One `Key: value` line at the end of a commit's message. */
export interface Trailer {
  readonly key: string
  readonly value: string
}

/** The words after an agent's name, above its own text. */
export const WRITES = ' writes:'

/** The agent's own text in the body of a commit; all of it in one that does not say who wrote what. */
export function ownWordsIn(body: string): string {
  return /^\S+ writes:\n\n([^]*)/m.exec(body)?.[1] ?? body
}

/** A commit message from a subject, a body and trailers, which git reads back unchanged. */
export function composeMessage(parts: {
  readonly subject: string
  readonly body: string
  readonly trailers: readonly Trailer[]
}): string {
  const paragraphs = [
    oneLine(parts.subject),
    withoutControls(parts.body).trim(),
    parts.trailers.map(lineOf).join('\n'),
  ]
  return paragraphs.filter(Boolean).join('\n\n') + '\n'
}

/** Trailers for the values that are known. */
export function known(pairs: readonly (readonly [string, string | null])[]): readonly Trailer[] {
  return pairs.flatMap(([key, value]) => (value === null || value === '' ? [] : [{ key, value }]))
}

/** The values of a key, in order; keys are compared without case, as in git. */
export function trailerValues(trailers: readonly Trailer[], key: string): readonly string[] {
  const wanted = key.toLowerCase()
  return trailers.filter((trailer) => trailer.key.toLowerCase() === wanted).map((trailer) => trailer.value)
}

/** The value of a key; the last one if there are several, as it was added later. */
export function trailerValue(trailers: readonly Trailer[], key: string): string | null {
  const wanted = key.toLowerCase()
  return trailers.findLast((trailer) => trailer.key.toLowerCase() === wanted)?.value ?? null
}

function lineOf({ key, value }: Trailer): string {
  return `${key}: ${oneLine(value)}`
}

/** A line break in a value would end the trailer, or begin another. */
function oneLine(text: string): string {
  return withoutControls(text.replaceAll(/\s+/g, ' ')).trim()
}
