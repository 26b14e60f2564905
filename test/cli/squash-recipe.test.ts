import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { git } from '../repository.ts'
import { madeOnce, repository, run } from './script-repository.ts'
import { by, jsonOf } from './ralph.ts'

const recipe = readFileSync(new URL('../../docs/ci.md', import.meta.url), 'utf8')

/** The message that a forge makes of a branch it squashes: a title, then each commit's own, the oldest first. */
function squashMessage(cwd: string): string {
  const messages = git(cwd, 'log', '--reverse', '--format=* %B%x00', 'main..work')
  return ['Two tasks (#7)', ...messages.split('\0').map((text) => text.trim())].filter(Boolean).join('\n\n')
}

type Merge = (cwd: string) => void

/** How a forge brings the branch `work` to `main`, which went on meanwhile. */
const MERGES: Readonly<Record<string, Merge>> = {
  'a squash': (cwd) => {
    const message = squashMessage(cwd)
    git(cwd, 'merge', '--quiet', '--squash', 'work')
    git(cwd, 'commit', '--quiet', '--message', message)
  },
  'a rebase': (cwd) => {
    git(cwd, 'rebase', '--quiet', 'main', 'work')
    git(cwd, 'switch', '--quiet', 'main')
    git(cwd, 'merge', '--quiet', '--ff-only', 'work')
  },
  'a merge queue that merges': (cwd) => {
    git(cwd, 'switch', '--quiet', '--create', 'queue/main/pr-7')
    git(cwd, 'merge', '--quiet', '--no-ff', '--message', 'Merge pull request #7', 'work')
    git(cwd, 'switch', '--quiet', 'main')
    git(cwd, 'merge', '--quiet', '--ff-only', 'queue/main/pr-7')
  },
}

/** A repository in which two tasks were done on a branch, while `main` went on. */
const branched = madeOnce(async () => {
  const tasks = { 'T-001': 'echo one > one.txt', 'T-002': 'echo two > two.txt' }
  const cwd = repository(tasks, { commit: { seal: true, digits: 4 } })
  git(cwd, 'switch', '--quiet', '--create', 'work')
  await run(cwd, '--loop')
  git(cwd, 'switch', '--quiet', 'main')
  git(cwd, 'commit', '--quiet', '--allow-empty', '--message', 'Meanwhile')
  return cwd
})

it.each(Object.keys(MERGES))('the recipe for teams that squash works after %s', async (name) => {
  const cwd = await branched()
  MERGES[name]!(cwd)

  const [, script = ''] = /name: Name commits anew[^]*?run: \|\n([^]*?)\n```/.exec(recipe) ?? []
  expect(script).toContain('ralph verify --fix')
  const { code } = await by(cwd, 'verify', '--fix')
  expect(code).toBe(0)
  const { tasks } = (await jsonOf(cwd, 'verify')) as {
    tasks: { id: string; state: string }[]
  }
  expect(tasks.map(({ state }) => state)).toEqual(
    name === 'a merge queue that merges' ? ['sealed', 'sealed'] : ['matches', 'matches'],
  )
  const log = (await jsonOf(cwd, 'log')) as {
    completions: { id: string }[]
  }
  expect(log.completions.map(({ id }) => id).toSorted()).toEqual(['T-001', 'T-002'])
  expect(existsSync(`${cwd}/two.txt`)).toBe(true)
})
