/** `a, b, c and 5 more`: as many as a person reads. */
export function fewOf(names: readonly string[], most = 10): string {
  if (names.length <= most) return names.join(', ')
  return `${names.slice(0, most - 1).join(', ')} and ${names.length - most + 1} more`
}
