import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { readTaskBytes, readTaskFiles } from '../../src/backlog/task-files.ts'

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
  const all: ReturnType<typeof readTaskBytes>[] = []
  const files = names.map((name) => ({ file: `${basename(folder)}/${name}` }))
  while (all.length < files.length) all.push(...readTaskFiles(root, files, all.length))
  return all
}

const NOT_UTF8 = { problem: 'is not UTF-8 text' }

describe('task files are read', () => {
  test('as they are, whatever their sizes, also where one has no room beside those before it', () => {
    const sizes = [0, 1, 2000, 8191, 8192, 57_000, 65_534, 65_535, 65_536, 65_537, 200_000, 1024 * 1024]
    const contents = [...sizes, ...sizes.toReversed(), 30_000, 30_000, 30_000, 0, 0].map((size, i) =>
      Buffer.alloc(size, `${i} — ä\n`),
    )
    // A filled buffer may end within a letter.
    const whole = contents.map((content) => Buffer.from(content.toString().replaceAll('\ufffd', '')))
    expect(readBack(whole)).toEqual(whole.map((content) => content.toString('latin1')))
  })

  test('each by itself: what one leaves open the next does not close', () => {
    const [before, after] = [Buffer.from([0x61, 0xc3]), Buffer.from([0xa9, 0x61])]
    expect(readBack([Buffer.from('ä'), before, after, Buffer.from('b')])).toEqual([
      '\xc3\xa4',
      NOT_UTF8,
      NOT_UTF8,
      'b',
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
      expect(readTaskBytes(join(folder, 'good'), root)).toBe('good')
      expect(readTaskBytes(join(folder, 'nothing'), root)).toEqual({ problem: 'does not exist' })
    },
  )
})
