import { micromark } from 'micromark'
import { printable } from '../printable.ts'

/** A piece of a page: only results of `html`, and of functions that create markup, count as markup. */
export interface Html {
  readonly html: string
}

/** What can be inserted in a piece. */
export type Value = string | number | Html | null | readonly (Html | null)[]

/**
 * Makes a piece of a page from a template: texts that are inserted stay texts, between tags and in quotes. Line
 * breaks in the template itself do not matter.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const own = parts.map((part) => part.replaceAll(/\s*\n\s*/g, ' '))
  return { html: own.map((text, index) => text + markupOf(values[index] ?? null)).join('') }
}

/** A line end that appears in the markup or on the page. */
export const NEW_LINE: Html = { html: '\n' }

function markupOf(value: Value): string {
  if (value === null) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  if ('html' in value) return value.html
  return value.map((piece) => piece?.html ?? '').join('')
}

/** Escapes a text for a page. */
function escapeHtml(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

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
