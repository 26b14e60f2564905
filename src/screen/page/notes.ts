import { micromark } from 'micromark'
import type { Html } from './html.ts'
import { printable } from '../printable.ts'

/**
 * Markdown as a piece of a page. HTML in it stays text, links lead only where a page may link to, and pictures become
 * links, as the page uses no network; its headings are below those of the page.
 */
export function renderNotes(markdown: string): Html {
  const text = markdown.split('\n').map(printable).join('\n')
  const markup = micromark(text, { extensions: [{ disable: { null: ['labelStartImage'] } }] })
  // All text is escaped by now, so anything that looks like a tag is one.
  const html = markup
    .replaceAll(/<(\/?)h[1-6]>/g, '<$1h5>')
    .replaceAll('<a href="', '<a rel="noopener noreferrer nofollow" href="')
  return { html }
}
