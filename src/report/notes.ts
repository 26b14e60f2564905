import { micromark } from 'micromark'
import type { Html } from './html.ts'
import { printable } from '../ui/printable.ts'

/**
 * Markdown as a piece of a page. HTML in it stays text, a link leads only where a page may, a picture is a link to it, for
 * the page asks nothing of any network; and its headings stand below those of the page.
 */
export function renderNotes(markdown: string): Html {
  const text = markdown.split('\n').map(printable).join('\n')
  const markup = micromark(text, { extensions: [{ disable: { null: ['labelStartImage'] } }] })
  // All that comes from the text is escaped by now: what looks like a tag is one.
  const html = markup
    .replaceAll(/<(\/?)h[1-6]>/g, '<$1h5>')
    .replaceAll('<a href="', '<a rel="noopener noreferrer nofollow" href="')
  return { html }
}
