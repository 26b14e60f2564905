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

/** The configuration in a file, or a new one, with one more key. */
export function withKey(root: string, known: string | undefined, key: string, value: unknown) {
  const file = known ?? 'ralph.config.json'
  const text = known === undefined ? '{}\n' : readFileSync(join(root, file), 'utf8')
  if (/\.ya?ml$/.test(file))
    return { file, text: `${text.trimEnd()}\n${key}: ${JSON.stringify(value)}\n`.trimStart() }
  return { file, text: editedJson({ file, text }, [key], value) }
}

function addedJson({ file, text, byteOrderMark }: Source, list: Value | undefined, bridge: Bridge): string {
  const isList = list?.kind === 'list'
  const [path, value] = isList ? [['bridges', list.items.length], bridge] : [['bridges'], [bridge]]
  return byteOrderMark + editedJson({ file, text }, path, value)
}

function editedJson(
  { file, text }: { file: string; text: string },
  path: readonly (string | number)[],
  value: unknown,
): string {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.length,
    eol: lineEnding(text),
  }
  const place = file === 'package.json' ? ['ralph', ...path] : [...path]
  return applyEdits(text, modify(text, place, value, { formattingOptions }))
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
