import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { posix } from 'node:path'
import { commandsPage } from './commands-page.ts'
import { configurationBlock } from './configuration-block.ts'
import { eventsBlock } from './events-block.ts'
import { libraryBlock } from './library-block.ts'
import { lintBlock } from './lint-block.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The pages of docs/ of which all, or what stands between two marks, is written by `npm run docs`. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/commands.md': commandsPage,
  'docs/configuration.md': () => withBlock('docs/configuration.md', configurationBlock()),
  'docs/json.md': () => withBlock('docs/json.md', eventsBlock()),
  'docs/library.md': () => withBlock('docs/library.md', libraryBlock()),
  'docs/lint/README.md': () => withBlock('docs/lint/README.md', lintBlock()),
}

/** Where a page is. */
export function pathOf(page: string): string {
  return posix.join(ROOT, page)
}

const MARKS = /(<!-- npm run docs -->\n)[^]*(<!-- \/npm run docs -->)/

/** The page with this between its marks. */
function withBlock(page: string, block: string): string {
  const text = readFileSync(pathOf(page), 'utf8')
  if (!MARKS.test(text)) throw new Error(`${page} has no marks for what npm run docs writes`)
  return text.replace(MARKS, (_, begin: string, end: string) => `${begin}\n${block}\n\n${end}`)
}
