import { createHash } from 'node:crypto'

/** What differs between two runs that fail alike, and what stands for it; in this order. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/(?:\/private)?(?:\/tmp|\/var\/folders|\/dev\/shm)\/[^\s:'"`)\]}>,;]+/g, '<temporary>'],
  [/[a-z]:\\[^\s:'"]*\\te?mp\\[^\s:'"`)\]}>,;]+/gi, '<temporary>'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<hex>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  [/\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}\b/gi, '<hex>'],
  [/\d+(?:[.,:]\d+)*/g, '<number>'],
  [/<number> ?(?:ns|[µμu]s|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b/gi, '<duration>'],
  [/<duration>(?: <duration>)+/g, '<duration>'],
  [/\s+/g, ' '],
]

/**
 * The same for the same failure: numbers, durations, hashes and temporary paths do not count, nor does the
 * order of lines, which differs where tests run at once. `kind` is what must be the same besides.
 */
export function fingerprintOf(kind: string, lines: readonly string[]): string {
  const normal = new Set(lines.map(normalise))
  const hash = createHash('sha256').update(kind)
  for (const line of [...normal].sort()) hash.update(`\n${line}`)
  return hash.digest('hex').slice(0, 16)
}

function normalise(line: string): string {
  return VARIABLE.reduce((text, [pattern, stand]) => text.replace(pattern, stand), line).trim()
}
