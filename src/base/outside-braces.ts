/** The pieces of a text between separators; one within braces separates nothing, so that `src/{a,b}.ts` is one piece. */
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
  // A brace that nothing closes is a sign like any other.
  return depth === 0 ? [...pieces, text.slice(from)] : text.split(separator)
}
