import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { readTaskBytes } from '../../src/backlog/task-files.ts'

const root = mkdtempSync(join(tmpdir(), 'ralph-task-files-'))
afterAll(() => rmSync(root, { recursive: true }))

let folders = 0

/** Writes files into a folder of their own, and reads them all. */
function readBack(contents: readonly Buffer[]): ReturnType<typeof readTaskBytes>[] {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  const names = contents.map((content, i) => {
    writeFileSync(join(folder, `${i}.md`), content)
    return `${i}.md`
  })
  return readAll(folder, names)
}

function readAll(folder: string, names: readonly string[]): ReturnType<typeof readTaskBytes>[] {
  return names.map((name) => readTaskBytes(join(folder, name), root))
}

describe('task files are read', () => {
  test('as they are, whatever their sizes', () => {
    const sizes = [0, 1, 2000, 8191, 8192, 57_000, 65_534, 65_535, 65_536, 65_537, 200_000, 1024 * 1024]
    const contents = [...sizes, ...sizes.toReversed()].map((size, i) => Buffer.alloc(size, `${i} — ä\n`))
    // A filled buffer may end within a letter.
    const whole = contents.map((content) => Buffer.from(content.toString().replaceAll('\ufffd', '')))
    expect(readBack(whole)).toEqual(whole.map((content) => content.toString('latin1')))
  })

  test('only as UTF-8', () => {
    expect(readBack([Buffer.from('ä'), Buffer.from([0x61, 0xc3])])).toEqual([
      '\xc3\xa4',
      { problem: 'is not UTF-8 text' },
    ])
  })

  test.skipIf(process.platform === 'win32')(
    'but for those that cannot be, which do not stop the others',
    () => {
      const folder = join(root, 'odd')
      mkdirSync(join(folder, 'a folder'), { recursive: true })
      writeFileSync(join(folder, 'good'), 'good')
      writeFileSync(join(folder, 'huge'), Buffer.alloc(1024 * 1024 + 1))
      const elsewhere = mkdtempSync(join(tmpdir(), 'ralph-elsewhere-'))
      onTestFinished(() => rmSync(elsewhere, { recursive: true }))
      writeFileSync(join(elsewhere, 'file'), '')
      symlinkSync(join(elsewhere, 'file'), join(folder, 'outside'))
      symlinkSync('good', join(folder, 'inside'))
      const names = ['good', 'a folder', 'nothing', 'huge', 'outside', 'inside', 'good']
      expect(readAll(folder, names)).toEqual([
        'good',
        { problem: 'is a folder, not a file' },
        { problem: 'does not exist' },
        { problem: 'has 1.0 MB; a task file has at most 1 MB' },
        { problem: 'is a link that leads out of the project' },
        'good',
        'good',
      ])
    },
  )
})
