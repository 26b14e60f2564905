import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyEdits, modify } from 'jsonc-parser/lib/esm/main.js'
import { UserError } from '../../base/errors.ts'
import type { Bridge } from '../../backlog/formats.ts'
import { lineEnding } from '../../backlog/markdown/splice.ts'
import { addedItem } from './edit.ts'
import { editedTexts, entryAt, openSources, type Source } from './source.ts'
import type { Value } from './value.ts'

/** The configuration in a file, or a new one, with a bridge; null if that is there already. */
export function withBridge(root: string, known: string | undefined, bridge: Bridge) {
  const file = known ?? 'ralph.config.json'
  const raw = known === undefined ? '{}\n' : readFileSync(join(root, file), 'utf8')
  const sources = openSources({ text: () => raw, list: () => [] })
  const source = sources.open(file)!
  const whole = raw === '' ? null : sources.root(file, 'an object')
  const own = file === 'package.json' ? whole?.value('ralph') : whole?.table
  const list = own && entryAt(source, own, 'an object')?.value('bridges')
  if (list?.kind === 'list' && list.items.some((item) => pathIn(item) === bridge.path)) return null
  const added = /\.ya?ml$/.test(file) ? addedYaml : addedJson
  return { file, text: added(source, list, bridge) }
}

function pathIn(item: Value): string | undefined {
  const path = item.kind === 'table' ? item.entries.get('path') : undefined
  return path?.kind === 'scalar' ? path.text : undefined
}

function addedJson({ file, text, byteOrderMark }: Source, list: Value | undefined, bridge: Bridge): string {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.length,
    eol: lineEnding(text),
  }
  const place = file === 'package.json' ? ['ralph', 'bridges'] : ['bridges']
  const edits =
    list?.kind === 'list'
      ? modify(text, [...place, list.items.length], bridge, { formattingOptions })
      : modify(text, place, [bridge], { formattingOptions })
  return byteOrderMark + applyEdits(text, edits)
}

function addedYaml(source: Source, list: Value | undefined, { path, as, sync }: Bridge): string {
  const lines = [`path: ${JSON.stringify(path)}`, `as: ${as}`, `sync: ${sync}`]
  if (list?.kind !== 'list') {
    const { byteOrderMark, text } = source
    const ending = lineEnding(text)
    const start = text === '' || /[\r\n]$/.test(text) ? text : text + ending
    const [first, ...others] = lines
    const item = ['bridges:', `  - ${first}`, ...others.map((line) => `    ${line}`), ''].join(ending)
    return byteOrderMark + start + item
  }
  const edit = addedItem(source, list, lines)
  if (edit) return [...editedTexts([edit]).values()].join('')
  throw new UserError(
    'the bridges in the configuration stand in brackets',
    `Add this one: { path: ${path}, as: ${as}, sync: true }`,
  )
}
