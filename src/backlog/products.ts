import type { MarkdownBlock } from './markdown/blocks.ts'
import type { Product } from './model.ts'
import { inlineText } from './markdown/reading.ts'
import { isNone, splitList, withoutRemarks } from './values.ts'

/** The products in a section: the items of its lists, or the comma-separated parts of a paragraph. */
export function readProducts(source: string, blocks: readonly MarkdownBlock[]): Product[] {
  const items = blocks.flatMap((block) => (block.kind === 'list' ? block.items : []))
  const texts = items.flatMap(({ text }) => (text ? [source.slice(text.start, text.end)] : []))
  if (texts.length > 0) return texts.filter((raw) => !isNone(raw)).map((raw) => productOf(raw))
  return blocks.flatMap((block) =>
    block.kind === 'text' ? splitProducts(source.slice(block.span.start, block.span.end)) : [],
  )
}

/** The products of a text without a list. */
export function splitProducts(raw: string): Product[] {
  return splitList(inlineText(raw)).map((text) => ({ text, path: pathIn(text) }))
}

/** Reads one item: a path if it begins with a code span that may be one, or with a word that looks like one. */
export function productOf(raw: string, read: (item: string) => string = inlineText): Product {
  // A check box is not part of the item.
  const item = raw.replace(/^\[[ xX]\][ \t]+/, '')
  const text = read(item)
  const code = /^`([^`\s]+)`/.exec(item)?.[1]
  return { text, path: code ?? pathIn(text) }
}

/** `src/a.ts`, perhaps before a remark (`src/a.ts — the form`); null if the word is no path. */
function pathIn(text: string): string | null {
  const word = /^(\S+?),?(?:\s+[—–\-(:].*)?$/s.exec(withoutRemarks(text).trimEnd())?.[1]
  if (word === undefined || /^[a-z]+:\/\//i.test(word)) return null
  return word.includes('/') || /\.[A-Za-z]\w{0,7}$/.test(word) ? word : null
}
