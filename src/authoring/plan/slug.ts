/** A unique name for a plan, from its title: used in paths, and in `PRD Reference`. */
export function slugOf(title: string, isTaken: (slug: string) => boolean = () => false): string {
  const slug = words(title) || 'plan'
  if (!isTaken(slug)) return slug
  for (let number = 2; ; number++) if (!isTaken(`${slug}-${number}`)) return `${slug}-${number}`
}

/** The words of a text as part of a file name. */
export function words(text: string, longest = 48): string {
  const found =
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      .normalize('NFC')
      .match(/[\p{Ll}\p{Lo}\p{N}]+/gu) ?? []
  let slug = ''
  for (const word of found) {
    const longer = slug === '' ? word : `${slug}-${word}`
    if ([...longer].length > longest) return slug || [...word].slice(0, longest).join('')
    slug = longer
  }
  return slug
}
