import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { available } from '../cage/here.ts'
import { env, git, projectFolder, put } from '../repository.ts'
import { repository } from './script-repository.ts'
import { ralph } from './ralph.ts'

it('slots of a checkout that has been gone for a day, or unused for a month, go too', async () => {
  const cache = projectFolder({})
  const runIn = (cwd: string) =>
    ralph(['run', '--agent', 'script'], { cwd, env: { ...env, XDG_CACHE_HOME: cache } })
  const slots = (): string[] => readdirSync(join(cache, 'ralph'))
  const old = repository({ 'T-001': 'echo x > x' })
  expect((await runIn(old)).code).toBe(0)
  const [name] = slots()
  const note = join(cache, 'ralph', name!, 'checkout')
  expect(readFileSync(note, 'utf8')).toBe(old)
  rmSync(old, { recursive: true })
  await runIn(repository({ 'T-001': 'echo x > x' }))
  expect(slots()).toContain(name)
  utimesSync(note, 0, 0)
  const unused = repository({ 'T-001': 'echo x > x' })
  await runIn(unused)
  expect(slots()).toHaveLength(2)
  expect(slots()).not.toContain(name)
  const others = slots()
  for (const other of others) utimesSync(join(cache, 'ralph', other, 'checkout'), 0, 0)
  put(unused, { '.ralph/run.json': '{}' })
  await runIn(repository({ 'T-001': 'echo x > x' }))
  expect(slots()).toHaveLength(2)
  rmSync(join(unused, '.ralph/run.json'))
  await runIn(repository({ 'T-001': 'echo x > x' }))
  expect(slots().filter((other) => others.includes(other))).toEqual([])
})

it('packages are installed where the agent works, and are in no commit', async () => {
  const cwd = repository({ 'T-001': `node -e "require('lib')" && echo x > x` }, { baseline: 'off' })
  put(cwd, { '.gitignore': 'node_modules\n' })
  const manifest = { name: 'shop', version: '1.0.0', dependencies: { lib: 'file:lib' } }
  const packages = {
    '': manifest,
    lib: { version: '1.0.0' },
    'node_modules/lib': { resolved: 'lib', link: true },
  }
  put(cwd, {
    'package.json': JSON.stringify(manifest),
    'package-lock.json': JSON.stringify({ ...manifest, lockfileVersion: 3, packages }),
    'lib/package.json': JSON.stringify({ name: 'lib', version: '1.0.0' }),
    'lib/index.js': '',
  })
  git(cwd, 'add', '--all')
  git(cwd, 'commit', '--quiet', '--message=Packages')
  const answer = await ralph(['run', '--agent', 'script', '--gate', `node -e "require('lib')"`], {
    cwd,
    env: { ...env, HOME: projectFolder({}), RALPH_SANDBOX: available.ok ? 'on' : 'off' },
  })
  expect(answer).toMatchObject({ code: 0 })
  expect(existsSync(join(cwd, 'node_modules'))).toBe(false)
  expect(git(cwd, 'show', '--format=', '--name-only', 'HEAD')).toBe('docs/tasks/T-001.md\nx')
})
