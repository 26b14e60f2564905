/** The name of a plan that no other has, made of what it is about: a part of paths, and of `PRD Reference`. */
export function slugOf(title: string, isTaken: (slug: string) => boolean = () => false): string {
  const slug = words(title) || 'plan'
  if (!isTaken(slug)) return slug
  for (let number = 2; ; number++) if (!isTaken(`${slug}-${number}`)) return `${slug}-${number}`
}

/** The words of a text as a part of a file's name. */
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
