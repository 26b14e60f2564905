import { printable } from './printable.ts'

/**
 * Text from a file as Markdown that says just this: no emphasis, link, picture or HTML comes of it, and on a forge nobody
 * is called by a name and no issue by its number.
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
