import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { env, makeRepository, PROGRAM, projectFolder, put, taskText } from '../repository.ts'
import { by, ralph } from './ralph.ts'
import { repository as scripted, run } from './script-repository.ts'

const FILES = {
  'package.json': '{ "scripts": { "test": "node --test" } }',
  '.gitignore': '.env\n',
  '.env': 'KEY=secret\n',
  'src/a.ts': 'export const a = 1\n',
  'docs/tasks/T-001.md': taskText('T-001', 'Begin', { Status: 'DONE', Milestone: '1 — One' }),
  'docs/tasks/T-002.md': taskText('T-002', 'Go on', {
    Depends: 'T-001',
    Milestone: '1 — One',
    Touches: 'src/a.ts, .env',
    Discipline: 'bakend',
  }),
  'docs/disciplines/backend.md': '# Backend\n',
}

function repository(): string {
  const { '.env': secret, ...files } = FILES
  const root = makeRepository(files)
  put(root, { '.env': secret })
  return root
}

describe('ralph prompt', () => {
  it('prints the prompt on stdout, and what it is made of on stderr', async () => {
    const { code, stdout, stderr } = await by(repository(), 'prompt', '2')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^# Relevant files\n/)
    expect(stdout).toContain('- `.env` is ignored by git, so it is not shown.')
    expect(stdout).toContain('  - `test`: `npm test`')
    expect(stdout).toMatch(/\n<TASK_BLOCKED reason="[^"]+">\n$/)
    expect(stderr).toContain(
      'warning: there is no discipline bakend: docs/disciplines/bakend.md does not exist; did you mean',
    )
    expect(stderr).toMatch(/\nfiles +\d+ +\d+\n/)
    expect(stderr).not.toContain('is DONE')
    expect((await by(repository(), 'prompt', '1')).stderr).toMatch(
      /^T-001 is DONE: no agent gets this prompt/,
    )
    expect(stderr).toMatch(new RegExp(`\nabout +\\d+ +${Buffer.byteLength(stdout)}\n$`))
  })

  it('as JSON gives the parts and the same text', async () => {
    const root = repository()
    const { stdout: text } = await by(root, 'prompt', 'T-002')
    const { stdout, stderr } = await by(root, 'prompt', 'T-002', '--json')
    const document = JSON.parse(stdout)
    expect(stderr).toBe('')
    expect(document).toMatchObject({ version: 1, id: 'T-002', text, bytes: Buffer.byteLength(text) })
    expect(document.parts.map(({ name }: { name: string }) => name)).toEqual([
      'files',
      'milestone',
      'task',
      'acceptance',
      'prerequisites',
      'instructions',
    ])
  })

  it('holds what was tried before', async () => {
    const root = scripted({ 'T-001': 'echo half > half.txt; echo "no key" >&2; exit 3' })
    await run(root, '--retries', '0', '--on-failure', 'stop')
    const { stdout } = await by(root, 'prompt', '1')
    expect(stdout).toContain('- Ended as `agent-failed`: `the script exited with code 3')
    expect(stdout).toContain('- Changed `half.txt`\n')
    expect(stdout).toContain('- To see it: `git show refs/ralph/attempts/T-001/1`\n')
  })

  it('knows the milestone of its neighbours, whatever marks they write it with', async () => {
    const root = projectFolder({
      ...FILES,
      'docs/tasks/T-003.md': taskText('T-003', 'Marked', { Status: 'DONE', Milestone: '**1** — _One_' }),
      'docs/tasks/T-004.md': '---\nstatus: DONE\nmilestone: "1 — One"\n---\n# T-004: Above\n',
      'docs/tasks/T-007.md':
        '# T-007: Below\n\n<!--\n## No section\n-->\n\n- **Status**: DONE\n- **Milestone**: 1 — One\n',
      'docs/tasks/T-005.md': taskText('T-005', 'Elsewhere', { Status: 'DONE', Milestone: '11 — One' }),
      'docs/tasks/T-006.md': taskText('T-006', 'Of 1 — One, it says', { Status: 'DONE' }),
    })
    const { stdout } = await by(root, 'prompt', '2')
    expect(stdout).toContain(
      '`1 — One`: 4 of 5 tasks done. Done so far:\n\n- T-001: Begin\n- T-003: Marked\n- T-004: Above\n- T-007: Below\n\n#',
    )
  })

  it('needs no git to be read', async () => {
    const root = projectFolder(FILES)
    const without = await by(root, 'prompt', '2')
    expect(without).toMatchObject({ code: 0 })
    expect(without.stdout).toContain('# Your task')
    const uninstalled = await ralph(['prompt', '2'], { cwd: root, env: { PATH: root } })
    expect(uninstalled).toMatchObject({ code: 0, stdout: without.stdout })
  })

  it('says what is wrong with a template, at its place', async () => {
    const root = projectFolder({
      ...FILES,
      'docs/prompts/task.md': '{{task}}\n{{instruction}}\n{{instructions}}\n',
    })
    const { code, stdout, stderr } = await by(root, 'prompt', '2')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('docs/prompts/task.md:2:1: there is no slot {{instruction}}')
    expect(stderr).toContain('Did you mean {{instructions}}?')
  })

  it('gives the same bytes in any locale, time zone and folder', () => {
    const root = repository()
    const print = (more: Record<string, string>, cwd: string): string =>
      execFileSync(process.execPath, [PROGRAM, 'prompt', 'T-002'], {
        cwd,
        env: { ...env, ...more },
        stdio: 'pipe',
      }).toString()
    const first = print({ TZ: 'UTC', LC_ALL: 'C' }, root)
    expect(
      print({ TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'ko_KR.UTF-8' }, `${root}/src`),
    ).toBe(first)
  })
})

describe('the prompt of a task file that cannot be read', () => {
  it('is refused with the reason: an agent would be told nothing of the task', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': `${taskText('T-001', 'Big')}${'x'.repeat(2 ** 20)}` })
    expect(await by(root, 'prompt', 'T-001')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: docs\/tasks\/T-001\.md has 1\.0 MB; a task file has at most 1 MB\n/,
      ),
    })
  })
})

describe('ralph next --prompt', () => {
  it('prints the prompt of the next task', async () => {
    const root = repository()
    const { stdout } = await by(root, 'prompt', 'T-002')
    expect(await by(root, 'next', '--prompt')).toMatchObject({ code: 0, stdout })
    const json = await by(root, 'next', '--prompt', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ version: 1, id: 'T-002', text: stdout })
  })

  it('answers no where there is none', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Begin', { Status: 'DONE' }) })
    expect(await by(root, 'next', '--prompt')).toMatchObject({ code: 1 })
  })
})
