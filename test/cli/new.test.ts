import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { env, PROGRAM, projectFolder, taskText } from '../repository.ts'
import { by, jsonOf, ralph, refusalOf } from './ralph.ts'

const read = (root: string, id: string): string => readFileSync(join(root, `docs/tasks/${id}.md`), 'utf8')

describe('ralph new', () => {
  it('writes the number after the highest and prints its path from where one is', async () => {
    const root = projectFolder({ 'docs/tasks/T-009.md': taskText('T-009', 'Nine'), 'src/x.ts': '' })
    const { code, stdout } = await ralph(['new', 'Add the login form'], { cwd: join(root, 'src') })
    expect([code, stdout]).toEqual([0, '../docs/tasks/T-010.md\n'])
    expect(read(root, 'T-010')).toMatch(
      /^# T-010: Add the login form\n\n- \*\*Status\*\*: TODO\n- \*\*Depends\*\*: none\n/,
    )
  })

  it('writes every field that it is given, in the order of the format', async () => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'One', { Milestone: '2 — Checkout' }),
      'docs/disciplines/backend.md': '# Backend\n',
      'docs/features/shop.md': '# Shop\n',
    })
    const options = [
      '--feature',
      'shop',
      '--discipline',
      'backend',
      '--complexity',
      'heavy',
      '--touches',
      'src/a.ts,src/b.ts',
    ]
    await by(root, 'new', 'Two', '--depends', '1', '--milestone', 'checkout', ...options)
    expect(read(root, 'T-002')).toContain(
      [
        '- **Status**: TODO',
        '- **Milestone**: 2 — Checkout',
        '- **Depends**: T-001',
        '- **Touches**: `src/a.ts`, `src/b.ts`',
        '- **Complexity**: Heavy',
        '- **Discipline**: backend',
        '- **Feature**: shop',
        '',
      ].join('\n'),
    )
  })

  it('writes what is to be done, where that is said', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'One') })
    const criteria = ['--criteria', 'One, two', '--criteria', 'Three']
    await by(root, 'new', 'Two', '--description', 'Why so.', ...criteria, '--produces', 'src/a.ts,src/b.ts')
    expect(read(root, 'T-002')).toContain(
      '## Description\n\nWhy so.\n\n## Acceptance Criteria\n\n- [ ] One, two\n- [ ] Three\n\n## Produces\n\n- `src/a.ts`\n- `src/b.ts`\n',
    )
    await by(root, 'new', 'Three', '--criteria', 'Four')
    expect(read(root, 'T-003')).toContain(
      '<!-- What to implement and why. -->\n\n## Acceptance Criteria\n\n- [ ] Four\n',
    )
  })

  it('opens the file in an editor, with its arguments, as ralph edit does', async () => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'One'),
      'my editor': '#!/bin/sh\necho "$1" >> "$2"\n',
    })
    const at = { cwd: root, env: { ...env, EDITOR: `'${root}/my editor' --wait` } }
    expect((await ralph(['new', 'Two', '--edit'], at)).stdout).toBe('docs/tasks/T-002.md\n')
    expect((await ralph(['edit', '2'], at)).stdout).toBe('docs/tasks/T-002.md\n')
    expect(read(root, 'T-002')).toMatch(/\n--wait\n--wait\n$/)
    expect(await refusalOf(by(root, 'edit', '2'))).toEqual([
      2,
      'error: no editor is named, and there is no terminal for vi',
    ])
    expect(await refusalOf(ralph(['edit', '2'], { ...at, env: { ...env, EDITOR: 'gone --wait' } }))).toEqual([
      2,
      'error: the editor could not be started: gone --wait',
    ])
  })

  it('takes the milestone that its number means, and says of a new one that it is new', async () => {
    const task = (id: string, milestone: string) => [
      `docs/tasks/${id}.md`,
      taskText(id, 'X', { Milestone: milestone }),
    ]
    const root = projectFolder(
      Object.fromEntries([
        task('T-001', '1 — Group 1'),
        task('T-002', '2 — Group 2'),
        task('T-003', '1 — Group 1'),
      ]),
    )
    const add = async (...argv: string[]) => {
      const { stdout, stderr } = await by(root, 'new', 'Y', ...argv)
      const [, id = ''] = /(T-\d+)/.exec(stdout) ?? []
      return [/Milestone\*\*: (.*)/.exec(read(root, id))?.[1], stderr]
    }
    expect(await add('--milestone', '2')).toEqual(['2 — Group 2', ''])
    expect(await add('--milestone', '3')).toEqual([
      '3',
      'note: the milestone "3" is new (so far: 1 — Group 1, 2 — Group 2)\n',
    ])
    expect(await add('--milestone', '3', '--json')).toEqual(['3', ''])
    expect(await add()).toEqual([undefined, ''])
  })

  it.each([
    'Return Option<T> from find',
    'Fix __init__',
    'Handle C# #',
    '<b>',
    'T-001 goes on',
    'A *b* & [c](d)',
  ])('writes a title that reads as it was typed: %s', async (title) => {
    const root = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'First') })
    await by(root, 'new', title)
    await by(root, 'new', 'Another')
    const { tasks } = (await jsonOf(root, 'list')) as {
      tasks: { title: string }[]
    }
    expect(tasks.map((task) => task.title)).toEqual(['First', title, 'Another'])
  })

  it('makes a task that ralph reads without a doubt', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'One', { Status: 'DONE' }) })
    await by(root, 'new', 'A `code` — "title" with #signs', '--depends', 'T-001')
    const file = join(root, 'docs/tasks/T-002.md')
    expect((await by(root, 'next', '--explain')).stdout).toContain(
      'the Description is still the template: fill it in',
    )
    writeFileSync(file, readFileSync(file, 'utf8').replace(/<!-- What to[^>]*>/, 'By card.'))
    const next = await jsonOf(root, 'next')
    expect(next.task).toMatchObject({
      id: 'T-002',
      title: 'A code — "title" with #signs',
      depends: ['T-001'],
    })
    expect((await by(root, 'lint')).code).toBe(0)
  })

  it('writes as its neighbours do: their padding, bullets, words, heading and line endings', async () => {
    const neighbour =
      '# Tarea T-0041 — Uno\r\n\r\n* Estado: Pendiente\r\n* Depende de: ninguna\r\n\r\n## Descripción\r\nAlgo.\r\n'
    const aliases = {
      fields: { Status: ['Estado'], Depends: ['Depende de'] },
      statuses: { TODO: ['Pendiente'] },
      sections: { Description: ['Descripción'] },
    }
    const root = projectFolder({
      'docs/tasks/T-0041.md': neighbour.replace('ninguna', 'none'),
      'ralph.config.json': JSON.stringify({ aliases }),
    })
    await by(root, 'new', 'Dos', '--depends', '41')
    expect(read(root, 'T-0042')).toMatch(
      /^# Tarea T-0042 — Dos\r\n\r\n\* Estado: Pendiente\r\n\* Depende de: T-0041\r\n\* Provenance: human\r\n\r\n## Descripción\r\n/,
    )
  })

  it.each([
    [['Title', '--depends', 'T-404'], 'there is no task T-404'],
    [['Title', '--depends', 'login'], "'login' is not a task"],
    [['Title', '--discipline', 'bakend'], "there is no discipline 'bakend'"],
    [['  '], 'a task needs a title'],
    [['Title', '--edit'], 'no editor is named, and there is no terminal for vi'],
  ])('refuses %j and writes nothing', async (argv, message) => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'One'),
      'docs/disciplines/backend.md': '# B\n',
    })
    expect(await refusalOf(by(root, 'new', ...argv))).toEqual([2, `error: ${message}`])
    expect(readdirSync(join(root, 'docs/tasks'))).toEqual(['T-001.md'])
  })

  it('gives as many at once each a number of its own', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'One') })
    const titles = Array.from({ length: 6 }, (_, index) => `Task ${index}`)
    const run = promisify(execFile)
    const printed = await Promise.all(
      titles.map((title) => run(process.execPath, [PROGRAM, 'new', title], { cwd: root })),
    )
    expect(new Set(printed.map(({ stdout }) => stdout)).size).toBe(titles.length)
    const files = readdirSync(join(root, 'docs/tasks')).slice(1)
    const written = files.map(
      (file) => /: (Task \d)/.exec(readFileSync(join(root, 'docs/tasks', file), 'utf8'))?.[1],
    )
    expect(new Set(written)).toEqual(new Set(titles))
  })
})
