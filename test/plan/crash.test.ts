import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { makeFolder } from '../git/repository.ts'
import { isAlive } from '../../src/process/table.ts'
import { env, git, planScene, subjects, type PlanScene } from './planner.ts'

const built = mkdtempSync(join(tmpdir(), 'ralph-plan-crash-'))
beforeAll(async () => {
  const input = fileURLToPath(new URL('crash-entry.ts', import.meta.url))
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' })
  await bundle.write({ dir: built, format: 'esm' })
  await bundle.close()
})
afterAll(() => rmSync(built, { recursive: true, force: true }))

/** Plans in a process of its own that is killed at a checkpoint, by its number; the signal that ended it. */
function plan({ root }: PlanScene, diary: string, occurrence = 0): string | null {
  const args = [join(built, 'crash-entry.js'), root, diary, String(occurrence)]
  const { signal, status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0 && signal === null) throw new Error(stderr)
  return signal
}

const COMMITS = ['tasks', 'requirements', 'decisions', 'research'].map(
  (phase) => `Plan(users-who-log-in): ${phase}`,
)

function expectPlanned(scene: PlanScene): void {
  expect(subjects(scene.root)).toEqual([...COMMITS, 'Begin'])
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
  expect(scene.read('docs/plans/users-who-log-in/plan.md')).toContain('- **Status**: done')
  expect(scene.has('docs/tasks/T-002.md')).toBe(true)
  expect(scene.has('docs/tasks/T-003.md')).toBe(false)
  expect(scene.has('docs/decisions/0002-which-database.md')).toBe(false)
  expect(scene.has('.ralph/plan.json')).toBe(false)
}

test('killed again and again, it is planned once and paid once', { timeout: 240_000 }, () => {
  const scene = planScene()
  const diary = join(makeFolder(), 'diary')
  let kills = 0
  while (plan(scene, diary, 2 + (kills % 7)) !== null) expect(++kills).toBeLessThan(40)
  expectPlanned(scene)
  expect(kills).toBeGreaterThan(3)
  for (const phase of ['research', 'decisions', 'requirements', 'tasks'] as const)
    expect(scene.prompts(phase)).toHaveLength(1)
})

test.each([1, 3, 4, 5, 6, 9])(
  'killed at checkpoint %i, the next one goes on',
  { timeout: 120_000 },
  (occurrence) => {
    const scene = planScene()
    const diary = join(makeFolder(), 'diary')
    expect(plan(scene, diary, occurrence)).toBe('SIGKILL')
    expect(plan(scene, diary)).toBeNull()
    expectPlanned(scene)
  },
)

test('an agent whose ralph was killed is ended, and asked again', { timeout: 120_000 }, () => {
  const scene = planScene()
  const folder = makeFolder()
  const [diary, first, alive] = [join(folder, 'diary'), join(folder, 'first'), join(folder, 'alive')]
  scene.does(
    'research',
    `if [ ! -f ${first} ]; then touch ${first}; kill -9 $(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' .ralph/lock); sleep 3; touch ${alive}; fi`,
  )
  expect(plan(scene, diary)).toBe('SIGKILL')
  expect(plan(scene, diary)).toBeNull()
  expect(existsSync(alive)).toBe(false)
  expect(scene.prompts('research')).toHaveLength(2)
  expectPlanned(scene)
  expect(readFileSync(diary, 'utf8').trim().split('\n').at(-1)).toBe('end done')
})

describe('what a planning agent did to git when ralph was killed', () => {
  const hook = (path: string, touches: string): string =>
    `printf '#!/bin/sh\\ntouch ${touches}\\ncat\\n' > ${path}; chmod +x ${path}`
  /** Plans until its agent, which has changed what decides how git works, kills it. */
  const killed = (
    after = 'sleep 3',
  ): { readonly scene: PlanScene; readonly stolen: string; readonly diary: string } => {
    const scene = planScene({ 'docs/tasks/T-001.md': '# T-001: Begin\n\n- **Status**: TODO\n' })
    const folder = makeFolder()
    const [diary, first, stolen] = [join(folder, 'diary'), join(folder, 'first'), join(folder, 'stolen')]
    git(scene.root, 'branch', 'mine')
    scene.does(
      'research',
      `if [ ! -f ${first} ]; then touch ${first}
git config user.name Mallory
git branch -q -D mine
git -c user.email=m@example.com commit -q --allow-empty -m 'Planted'
${hook('.git/evil', stolen)}
git config core.fsmonitor "$PWD/.git/evil"
${hook('.git/hooks/pre-commit', stolen)}
rm -f ${stolen}
kill -9 $(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' .ralph/lock); ${after}; fi`,
    )
    expect(plan(scene, diary)).toBe('SIGKILL')
    expect(scene.has('.git/hooks/pre-commit')).toBe(true)
    return { scene, stolen, diary }
  }
  const expectUndone = ({ scene, stolen }: ReturnType<typeof killed>): void => {
    expect(existsSync(stolen)).toBe(false)
    expect(scene.read('.git/config')).not.toMatch(/Mallory|fsmonitor/)
    expect(scene.has('.git/hooks/pre-commit')).toBe(false)
    expect(git(scene.root, 'rev-parse', 'mine')).toBe(git(scene.root, 'rev-parse', ':/Begin'))
    expect(subjects(scene.root)).not.toContain('Planted')
    expect(scene.has('.git/ralph-guard.json')).toBe(false)
  }

  test('is undone by the next planning', { timeout: 120_000 }, () => {
    const left = killed()
    expect(plan(left.scene, left.diary)).toBeNull()
    expectUndone(left)
  })

  test('is undone by the next run, once', { timeout: 120_000 }, async () => {
    const left = killed()
    const { root } = left.scene
    const run = () => ralph(['run', '--sandbox', 'off', '--on-failure', 'stop'], { cwd: root, env })
    const { stdout } = await run()
    expect(stdout).toContain('.git/hooks/pre-commit')
    expectUndone(left)
    git(root, 'config', 'user.name', 'Ada Lovelace')
    await run()
    expect(git(root, 'config', 'user.name')).toBe('Ada Lovelace')
  })

  test('is told from what a person has changed since', { timeout: 120_000 }, async () => {
    const pid = join(makeFolder(), 'pid')
    const { scene, diary } = killed(`echo $$ > ${pid}`)
    await expect.poll(() => !existsSync(pid) || isAlive(Number(readFileSync(pid, 'utf8')))).toBe(false)
    // Its last sign of life was a minute ago, and the hook was there by then.
    const past = new Date(Date.now() - 60_000)
    utimesSync(join(scene.root, '.ralph/plan.json'), past, past)
    git(scene.root, 'config', 'user.name', 'Ada Lovelace')
    rmSync(join(scene.root, '.git/hooks/pre-commit'))
    git(scene.root, 'config', '--unset', 'core.fsmonitor')
    expect(plan(scene, diary)).toBeNull()
    expect(git(scene.root, 'config', 'user.name')).toBe('Ada Lovelace')
    expect(subjects(scene.root)).toContain('Planted')
  })
})
