import { printable } from './printable.ts'

/**
 * Escapes a text for Markdown: it becomes no emphasis, link, picture or HTML comment, and on a forge it mentions no
 * person and no issue.
 */
export function markdownText(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_[\]|~$]/g, '\\$&')
    .replaceAll(/[@#](?=[\p{L}\p{N}])/gu, '$&<!-- -->')
    .replaceAll(/:\/\/|\bwww\./gi, (sign) => `${sign.slice(0, -1)}<!-- -->${sign.slice(-1)}`)
    .replace(/^(\s*)([-+]|\d+[.)])/, '$1\\$2')
}
