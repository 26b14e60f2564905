import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sarifLog } from '../../../src/screen/lint-view.ts'
import { projectFolder, taskText } from '../../repository.ts'
import { by, jsonOf, ralph } from '../ralph.ts'

describe('ralph lint --fix', () => {
  const texts = {
    'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Status: 'done' }),
    'docs/tasks/T-002.md': taskText('T-002', 'Bill', { Status: 'todo', Depends: 'T-1' }),
    'docs/tasks/T-003.md': taskText('T-003', 'Ship', { Depends: 'T-002' }),
  }
  const textIn = (root: string, file: string): string => readFileSync(join(root, file), 'utf8')

  it('writes what it mends, names it, and finds nothing a second time', async () => {
    const root = projectFolder(texts)
    const { stdout } = await by(root, 'lint', '--fix')
    expect(stdout).toMatch(/^fixed docs\/tasks\/T-001\.md\nfixed docs\/tasks\/T-002\.md\n/)
    expect(stdout).not.toContain('status-case')
    expect(textIn(root, 'docs/tasks/T-002.md')).toBe(
      taskText('T-002', 'Bill', { Status: 'TODO', Depends: 'T-001' }),
    )
    expect(textIn(root, 'docs/tasks/T-003.md')).toBe(texts['docs/tasks/T-003.md'])
    const again = await by(root, 'lint', '--fix', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ fixed: [] })
  })

  it('leaves alone what is not named', async () => {
    const root = projectFolder(texts)
    const { stdout } = await by(root, 'lint', '--fix', '--json', 'docs/tasks/T-002.md')
    expect(JSON.parse(stdout)).toMatchObject({ fixed: ['docs/tasks/T-002.md'] })
    expect(textIn(root, 'docs/tasks/T-001.md')).toBe(texts['docs/tasks/T-001.md'])
  })
})

describe('ralph lint for other programs', () => {
  const wrong = taskText('T-001', 'Pay', { Status: 'done', Depends: 'T-1%,T-009' })

  it('has ends and fixes in its JSON, by which an editor mends the text', async () => {
    const root = projectFolder({
      'docs/tasks/T-001.md': wrong,
      'docs/tasks/T-002.md': taskText('T-002', 'x'),
    })
    const { diagnostics } = await jsonOf(root, 'lint')
    expect(diagnostics).toContainEqual({
      file: 'docs/tasks/T-001.md',
      line: 3,
      column: 15,
      severity: 'warning',
      rule: 'status-case',
      message: 'Status "done" is written DONE',
      endLine: 3,
      endColumn: 19,
      fix: { line: 3, column: 15, endLine: 3, endColumn: 19, text: 'DONE' },
    })
  })

  it('checks what an editor has not saved, among the others as they are', async () => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'Pay'),
      'docs/tasks/T-002.md': taskText('T-002', 'Bill', { Depends: 'T-001' }),
      'docs/tasks/deep/notes.md': '# Notes',
    })
    const check = async (file: string, input: string) => {
      const answer = await ralph(['lint', '--stdin', '--file', file, '--json'], { cwd: root, input })
      const { diagnostics } = JSON.parse(answer.stdout) as { diagnostics: { rule: string; file: string }[] }
      return [answer.code, ...diagnostics.map(({ rule }) => rule)]
    }
    const circle = taskText('T-001', 'Pay', { Depends: 'T-002' })
    expect(await check('docs/tasks/T-001.md', circle)).toEqual([1, 'cycle'])
    expect(await check('docs/tasks/T-003-new.md', taskText('T-003', 'New', { Depends: 'T-001' }))).toEqual([
      0,
    ])
    expect(await check('docs/tasks/T-03.md', taskText('T-03', 'x', { Depends: 'T-77' }))).toContain(
      'missing-dependency',
    )
    expect(await check('README.md', taskText('T-003', 'x'))).toEqual([0])
    for (const file of ['docs/tasks/TASK-003.md', 'docs/tasks/deep/T-003.md'])
      expect(await check(file, taskText('T-003', 'x'))).toEqual([0, 'unread-task'])
    expect(await check('docs/tasks/notes.md', '# anything')).toEqual([0])
    expect(readFileSync(join(root, 'docs/tasks/T-001.md'), 'utf8')).toBe(taskText('T-001', 'Pay'))
  })

  it.each([
    [['--stdin'], '--stdin and --file go together'],
    [['--file', 'x'], '--stdin and --file go together'],
    [['--stdin', '--file', 'x', '--fix'], '--stdin cannot be used with --fix'],
    [['--json', '--format', 'text'], 'give one of --json and --format'],
  ])('refuses %j', async (argv, message) => {
    const cwd = projectFolder({ 'docs/tasks/T-001.md': wrong })
    const { code, stderr } = await by(cwd, 'lint', ...argv)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('answers no where there are more warnings than may be', async () => {
    const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Status: 'done' }) })
    expect((await by(cwd, 'lint')).code).toBe(0)
    expect((await by(cwd, 'lint', '--max-warnings', '1')).code).toBe(0)
    expect(await by(cwd, 'lint', '--max-warnings', '0')).toMatchObject({
      code: 1,
      stderr: '1 warning: more than --max-warnings 0\n',
    })
  })

  it('annotates lines inside a GitHub action by itself, and fills the summary of the job', async () => {
    const root = projectFolder({ 'app/package.json': '{}', 'app/docs/tasks/T-001.md': wrong })
    mkdirSync(join(root, '.git'))
    const summary = join(root, 'summary.md')
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary }
    const { code, stdout } = await ralph(['lint'], { cwd: join(root, 'app'), env })
    expect(code).toBe(1)
    expect(stdout).toContain(
      '::warning file=app/docs/tasks/T-001.md,line=3,endLine=3,col=15,endColumn=19,title=ralph lint%3A status-case::Status "done" is written DONE\n',
    )
    expect(stdout).toContain('T-1%25')
    expect(readFileSync(summary, 'utf8')).toMatch(
      /^### Task files\n\n```text\n[^]*\d error, \d warnings? in 1 task file\n```\n/,
    )
    const plain = await ralph(['lint', '--format', 'text'], { cwd: join(root, 'app'), env })
    expect(plain.stdout).not.toContain('::')
    const document = await ralph(['lint', '--json'], { cwd: join(root, 'app'), env })
    expect(JSON.parse(document.stdout)).toBeTruthy()
  })

  it('is SARIF where it is asked for', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': wrong })
    const { stdout } = await by(root, 'lint', '--format', 'sarif')
    const log = JSON.parse(stdout) as {
      version: string
      runs: {
        tool: { driver: { rules: { id: string; shortDescription: object; help: object }[] } }
        results: { ruleId: string; ruleIndex: number }[]
      }[]
    }
    expect(log.version).toBe('2.1.0')
    const [only] = log.runs
    expect(only!.results.length).toBeGreaterThan(1)
    for (const { ruleId, ruleIndex } of only!.results)
      expect(only!.tool.driver.rules[ruleIndex]!.id).toBe(ruleId)
    for (const { shortDescription, help } of only!.tool.driver.rules) {
      expect(shortDescription).toEqual({ text: expect.stringMatching(/^[A-Z`][^[]*\.$/) as unknown })
      expect(help).toMatchObject({ markdown: expect.stringContaining('## Fix') as unknown })
    }
    const rules = [{ name: 'cycle', severity: 'error' }] as const
    const published = {
      version: '1.2.3',
      homepage: 'https://example.com/ada/ralph#readme',
      rules,
      prefix: '',
    }
    expect(sarifLog([], published).runs[0]!.tool.driver.rules).toMatchObject([
      {
        shortDescription: { text: 'Tasks wait for each other, so none of them can ever be done.' },
        helpUri: 'https://example.com/ada/ralph/blob/v1.2.3/docs/lint/cycle.md',
      },
    ])
    expect(only!.results).toContainEqual(
      expect.objectContaining({
        ruleId: 'status-case',
        level: 'warning',
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'docs/tasks/T-001.md', uriBaseId: '%SRCROOT%' },
              region: { startLine: 3, startColumn: 15, endLine: 3, endColumn: 19 },
            },
          },
        ],
        fixes: [expect.anything()],
      }),
    )
  })
})
