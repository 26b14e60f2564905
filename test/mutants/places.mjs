/** What is tried instead of what stands there: each changes what the code decides, and mostly still compiles. */
const CHANGES = [
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/===/g, '!=='],
  [/!==/g, '==='],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/&&/g, '||'],
  [/\|\|/g, '&&'],
  [/\.some\(/g, '.every('],
  [/\.every\(/g, '.some('],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/(?<=[ ([])0\b(?![.x])/g, '1'],
  [/(?<=[ ([])1\b(?![.x])/g, '2'],
]

/** Comments, strings and regular expressions: what stands in them is no code. */
const NO_CODE =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|(?<=[(,=:&|!?\s])\/(?![/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n])+\/[a-z]*|^(?:import|export type|type|interface)\b[^\n]*/gm

/** Every place of a file at which one thing can be changed into another, in order. */
export function placesIn(text) {
  const code = text.replace(NO_CODE, (found) => found.replace(/[^\n]/g, ' '))
  const places = CHANGES.flatMap(([pattern, to]) =>
    [...code.matchAll(pattern)].map(({ 0: from, index }) => ({ index, from, to })),
  )
  return places.sort((a, b) => a.index - b.index)
}

/** The text with that one change. */
export function changed(text, { index, from, to }) {
  return text.slice(0, index) + to + text.slice(index + from.length)
}

/** Numbers from 0 to 1 that are the same for the same seed: mulberry32. */
export function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
