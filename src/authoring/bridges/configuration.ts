import { applyEdits, modify, parse } from 'jsonc-parser/lib/esm/main.js'
import { isMap, isSeq, parseDocument } from 'yaml'
import { UserError } from '../../base/errors.ts'
import { lineEnding } from '../../backlog/markdown/splice.ts'
import type { Bridge } from '../../backlog/formats.ts'

/** Adds a bridge to a configuration, with the smallest edit; null if it is there already. */
export function addedBridge(file: string, text: string, bridge: Bridge): string | null {
  if (/\.ya?ml$/.test(file)) return inYaml(text, bridge)
  return inJson(text, bridge, file === 'package.json' ? ['ralph', 'bridges'] : ['bridges'])
}

function isThere(bridges: unknown, { path }: Bridge): boolean {
  return (
    Array.isArray(bridges) &&
    bridges.some(
      (one: unknown) => typeof one === 'object' && one !== null && 'path' in one && one.path === path,
    )
  )
}

function inJson(text: string, bridge: Bridge, at: readonly string[]): string | null {
  const start = text.startsWith('\uFEFF') ? 1 : 0
  const body = text.slice(start)
  const read = valueIn(body, at)
  if (isThere(read, bridge)) return null
  const indent = /\n([ \t]+)\S/.exec(body)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.length,
    eol: lineEnding(body),
  }
  const place = Array.isArray(read) ? [...at, read.length] : [...at]
  const value = Array.isArray(read) ? bridge : [bridge]
  return text.slice(0, start) + applyEdits(body, modify(body, place, value, { formattingOptions }))
}

function inYaml(text: string, { path, as, sync }: Bridge): string | null {
  const document = parseDocument(text)
  if (
    isThere(document.toJS() === null ? [] : (document.toJS() as { bridges?: unknown }).bridges, {
      path,
      as,
      sync,
    })
  )
    return null
  const ending = lineEnding(text)
  const item = (indent: string): string =>
    [`${indent}- path: ${JSON.stringify(path)}`, `${indent}  as: ${as}`, `${indent}  sync: ${sync}`, ''].join(
      ending,
    )
  const list = isMap(document.contents) ? document.contents.get('bridges', true) : undefined
  const closed = text === '' || /[\r\n]$/.test(text) ? text : text + ending
  if (isSeq(list) && list.flow)
    throw new UserError(
      'the bridges in the configuration stand in brackets',
      `Add this one: { path: ${path}, as: ${as}, sync: true }`,
    )
  if (!isSeq(list) || !list.range) return `${closed}bridges:${ending}${item('  ')}`
  const column = list.range[0] - (Math.max(text.lastIndexOf('\n', list.range[0] - 1), -1) + 1)
  const at = list.range[1]
  const isLineStart = /[\r\n]$/.test(closed.slice(0, at))
  return (
    closed.slice(0, at) +
    (isLineStart ? '' : ending) +
    item(' '.repeat(column)).slice(0, isLineStart ? undefined : -ending.length) +
    closed.slice(at)
  )
}

function valueIn(text: string, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    parse(text, [], { allowTrailingComma: true }),
  )
}
