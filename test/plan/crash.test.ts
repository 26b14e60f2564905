import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { beforeAll, expect, test } from 'vitest'
import { env, git, makeFolder } from '../repository.ts'
import { planScene, type PlanScene, subjects } from './planner.ts'

const built = makeFolder()
beforeAll(async () => {
  const input = fileURLToPath(new URL('crash-entry.ts', import.meta.url))
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' })
  await bundle.write({ dir: built, format: 'esm' })
  await bundle.close()
  const prompts = new URL('../../src/authoring/plan/prompts', import.meta.url)
  cpSync(prompts, join(built, 'prompts'), { recursive: true })
})

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

test.each([1, 4, 6])('killed at checkpoint %i, the next one goes on', { timeout: 120_000 }, (occurrence) => {
  const scene = planScene()
  const diary = join(makeFolder(), 'diary')
  expect(plan(scene, diary, occurrence)).toBe('SIGKILL')
  expect(plan(scene, diary)).toBeNull()
  expectPlanned(scene)
})

test('an agent whose ralph was killed is ended, and asked again', { timeout: 120_000 }, () => {
  const scene = planScene()
  const folder = makeFolder()
  const [diary, first, alive] = [join(folder, 'diary'), join(folder, 'first'), join(folder, 'alive')]
  scene.does(
    'research',
    `if [ ! -f ${first} ]; then touch ${first}; kill -9 $(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' ${scene.root}/.ralph/lock); sleep 3; touch ${alive}; fi`,
  )
  expect(plan(scene, diary)).toBe('SIGKILL')
  expect(plan(scene, diary)).toBeNull()
  expect(existsSync(alive)).toBe(false)
  expect(scene.prompts('research')).toHaveLength(2)
  expectPlanned(scene)
  expect(readFileSync(diary, 'utf8').trim().split('\n').at(-1)).toBe('end done')
})

test(
  'what a planning agent did to git before ralph was killed reaches neither the checkout nor the next planning',
  {
    timeout: 120_000,
  },
  () => {
    const scene = planScene({ 'docs/tasks/T-001.md': '# T-001: Begin\n\n- **Status**: TODO\n' })
    const folder = makeFolder()
    const [diary, first, stolen] = [join(folder, 'diary'), join(folder, 'first'), join(folder, 'stolen')]
    const hook = (path: string): string =>
      `printf '#!/bin/sh\\ntouch ${stolen}\\ncat\\n' > ${path}; chmod +x ${path}`
    git(scene.root, 'branch', 'mine')
    scene.does(
      'research',
      `if [ ! -f ${first} ]; then
git config user.name Mallory
git branch -q -D mine
git -c user.email=m@example.com commit -q --allow-empty -m 'Planted'
mkdir -p .git/hooks
${hook('.git/evil')}
git config core.fsmonitor "$PWD/.git/evil"
${hook('.git/hooks/pre-commit')}
rm -f ${stolen}
git config user.name > ${first}
kill -9 $(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' ${scene.root}/.ralph/lock); sleep 3; fi
git log -1 --format=%s > ${first}.later; git config user.name >> ${first}.later; git branch --list mine >> ${first}.later`,
    )
    expect(plan(scene, diary)).toBe('SIGKILL')
    expect(readFileSync(first, 'utf8')).toBe('Mallory\n')
    expect(plan(scene, diary)).toBeNull()
    expect(readFileSync(`${first}.later`, 'utf8')).toBe('Begin\nAda\n  mine\n')
    expect(existsSync(stolen)).toBe(false)
    expect(scene.read('.git/config')).not.toMatch(/Mallory|fsmonitor/)
    expect(scene.has('.git/hooks/pre-commit')).toBe(false)
    expect(git(scene.root, 'rev-parse', 'mine')).toBe(git(scene.root, 'rev-parse', ':/Begin'))
    expect(subjects(scene.root)).toEqual([...COMMITS, 'Begin'])
  },
)
