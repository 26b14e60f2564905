import { decoded, ownText } from './byte-text.ts'
import { scanInlineText } from './markdown/inline.ts'
import type { Product } from './model.ts'
import type { PlainWords } from './plain-words.ts'
import { productOf } from './products.ts'
import { scanHeadings, scanItems } from './markdown/scan.ts'
import { lineAfter } from './markdown/splice.ts'
import { isNone } from './values.ts'

/** The items of each section that lists products, as bytes; null if only the parser can decide. */
export function scanProductLists(source: string, words: PlainWords): readonly (readonly string[])[] | null {
  const headings = scanHeadings(source, 0)
  if (headings === null) return null
  const lists: (readonly string[])[] = []
  for (let i = 0; i < headings.length; i++) {
    const { depth, text, span } = headings[i]!
    const name = depth === 2 ? words.title(source.slice(text.start, text.end)) : 'another'
    if (name === 'unclear') return null
    if (name !== 'Produces') continue
    const end = headings[i + 1]?.span.start ?? source.length
    const blocks = scanItems(source, { start: Math.min(lineAfter(source, span.end), end), end })
    if (blocks === null) return null
    const items = (blocks[0]?.items ?? []).map(({ text: at }) => source.slice(at!.start, at!.end))
    lists.push(items.filter((bytes) => !isNone(decoded(bytes))))
  }
  return lists
}

/** Reads such items as products; null if only the parser can decide. */
export function scanProducts(items: readonly string[]): readonly Product[] | null {
  const products: Product[] = []
  for (const bytes of items) {
    const raw = ownText(bytes)
    const text = scanInlineText(raw.trim())
    if (text === null) return null
    products.push(productOf({ inlineText: () => text }, raw))
  }
  return products
}
