import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { JournalReader } from '../../src/screen/read-journal.ts'
import { makeFolder } from '../repository.ts'

function journal() {
  const path = join(makeFolder(), 'run-1.ndjson')
  const reader = new JournalReader(path)
  const all = (): readonly string[] => {
    const found: string[] = []
    for (let events = reader.next(); events !== null; events = reader.next())
      found.push(...events.map((event) => ('message' in event ? event.message : event.type)))
    return found
  }
  return { path, reader, all }
}

const warning = (message: string): string => JSON.stringify({ at: '', type: 'warning', message })

it('reads each event once, and none before its line is whole', () => {
  const { path, all } = journal()
  expect(all()).toEqual([])
  writeFileSync(path, `${warning('one')}\n${warning('two').slice(0, 20)}`)
  expect(all()).toEqual(['one'])
  appendFileSync(path, `${warning('two').slice(20)}\n${warning('schön')}\n`)
  expect(all()).toEqual(['two', 'schön'])
  expect(all()).toEqual([])
})

it('reads what is larger than what it reads at once', () => {
  const { path, all } = journal()
  const long = 'ü'.repeat(100_000)
  writeFileSync(path, `${warning(long)}\n${warning('after')}\n`)
  expect(all()).toEqual([long, 'after'])
})

it('passes over what is no event', () => {
  const { path, all } = journal()
  writeFileSync(path, `\n{"type"\nnull\n[]\n7\n{"at":""}\n${warning('one')}\n`)
  expect(all()).toEqual(['one'])
})

it('goes on in the file that stands there now, where the tree was cleaned', () => {
  const { path, reader, all } = journal()
  writeFileSync(path, `${warning('one')}\n`)
  expect(all()).toEqual(['one'])
  rmSync(path)
  reader.refresh()
  expect(all()).toEqual([])
  writeFileSync(`${path}.new`, `${warning('two')}\n`)
  renameSync(`${path}.new`, path)
  reader.refresh()
  expect(all()).toEqual(['two'])
  truncateSync(path)
  reader.refresh()
  appendFileSync(path, `${warning('three')}\n`)
  expect(all()).toEqual(['three'])
  reader.close()
})
