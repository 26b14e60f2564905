import { stripVTControlCharacters } from 'node:util'

/** `3 tasks`, `1 task`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `a, b, c and 5 more`: as many as a person reads. */
export function fewOf(names: readonly string[], most = 10): string {
  if (names.length <= most) return names.join(', ')
  return `${names.slice(0, most - 1).join(', ')} and ${names.length - most + 1} more`
}

/** The text, or its beginning and `…` if it is longer than `most`: cut between words where one ends near there. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  const blank = text.lastIndexOf(' ', most - 1)
  // A sign beyond the usual ones is two units.
  const start = text.slice(0, blank > most * 0.8 ? blank : most - 1).replace(/[\ud800-\udbff]$/, '')
  return `${start.trimEnd()}…`
}

/** The pieces of a text between separators, ignoring those in braces: `src/{a,b}.ts` is one piece. */
export function splitOutsideBraces(text: string, separator: RegExp): readonly string[] {
  if (!text.includes('{')) return text.split(separator)
  const pieces: string[] = []
  let [depth, from] = [0, 0]
  for (const { 0: sign, index } of text.matchAll(new RegExp(`[{}]|${separator.source}`, 'g'))) {
    if (sign === '{') depth++
    else if (sign === '}') depth = Math.max(0, depth - 1)
    else if (depth === 0) {
      pieces.push(text.slice(from, index))
      from = index + sign.length
    }
  }
  // A brace that is never closed is a plain character.
  return depth === 0 ? [...pieces, text.slice(from)] : text.split(separator)
}

/** The value of a JSON text; undefined if it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether it is an object of JSON, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A line of Markdown without the backslashes that make marks plain text; those in code are themselves. */
export function withoutEscapes(line: string): string {
  return line.replace(/(`+)(?!`).+?(?<!`)\1(?!`)|\\([!-/:-@[-`{-~])/g, (all, _, mark?: string) => mark ?? all)
}

/** Characters that a terminal obeys instead of showing: control characters, and those that change the direction of text. */
export const CONTROLS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff'

/** The same without line ends and tabs, written out: a look ahead at each character takes five times as long. */
const UNWANTED = new RegExp(`[${CONTROLS.replace('\\u0000-\\u001f', '\\u0000-\\u0008\\u000b-\\u001f')}]`, 'g')

/** A text of many lines without them: files and commits are read in terminals too. */
export function withoutControls(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  const hasSequences = lines.includes('\u001b') || lines.includes('\u009b')
  const plain = hasSequences ? stripVTControlCharacters(lines) : lines
  return plain.replaceAll(UNWANTED, '')
}
