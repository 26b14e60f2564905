import { FOLDER } from '../../src/agents/port.ts'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { writePrivateFiles } from '../../src/agents/private-files.ts'
import { makeFolder } from '../repository.ts'

let home: string
beforeEach(() => {
  home = makeFolder()
})

const invocation = {
  program: 'any',
  args: [`--settings=${FOLDER}/a/settings.json`],
  env: { SETTINGS: `${FOLDER}/a/settings.json`, GONE: undefined },
  stdin: '',
  files: { 'a/settings.json': '{}' },
}

test('files are written where only this user can read them, below the home, and taken away again', () => {
  const { args, env, remove } = writePrivateFiles(invocation, { HOME: home })
  const path = env['SETTINGS']!
  expect(args).toEqual([`--settings=${path}`])
  expect(readFileSync(path, 'utf8')).toBe('{}')
  expect(path.startsWith(join(home, '.cache/ralph/'))).toBe(true)
  if (process.platform !== 'win32') {
    for (const folder of ['.cache', '.cache/ralph']) {
      expect(statSync(join(home, folder)).mode & 0o077).toBe(0)
    }
  }
  remove()
  expect(readdirSync(join(home, '.cache/ralph'))).toEqual([])
})

test('what a ralph that died has left is removed, and what one that lives uses is not', () => {
  const parent = join(home, 'cache/ralph')
  const { pid: dead } = spawnSync(process.execPath, ['-e', ''])
  const names = [
    `agent-${hostname()}-${dead}-x`,
    `agent-${hostname()}-${process.pid}-x`,
    `agent-elsewhere-${dead}-x`,
  ]
  for (const name of names) mkdirSync(join(parent, name), { recursive: true })
  writePrivateFiles(invocation, { XDG_CACHE_HOME: join(home, 'cache') }).remove()
  expect(names.map((name) => existsSync(join(parent, name)))).toEqual([false, true, true])
})

test('a home that takes no files is no reason to fail', () => {
  writeFileSync(join(home, '.cache'), 'no folder')
  for (const env of [{ HOME: home }, {}]) {
    const prepared = writePrivateFiles(invocation, env)
    expect(readFileSync(prepared.env['SETTINGS']!, 'utf8')).toBe('{}')
    prepared.remove()
  }
})
