import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { missingIn } from '../../src/engine/gates/run.ts'
import { hiddenProgram, missingProgram } from '../../src/cli/gate-programs.ts'
import { makeFolder, put } from '../repository.ts'
import { startProcess, type StartProcess } from '../../src/process/start.ts'

const cwd = makeFolder()
put(cwd, { 'check.sh': '#!/bin/sh\n' })
const env = { PATH: '/usr/bin:/bin' }

describe.skipIf(process.platform === 'win32')('the program of a gate', () => {
  it.each([
    ['no-such-pnpm test', 'no-such-pnpm'],
    ['CI=1 NODE_ENV=test no-such-pnpm test', 'no-such-pnpm'],
    ['cd . && no-such-go vet ./...', 'no-such-go'],
    ['cat x | no-such-jq .', 'no-such-jq'],
    ['./no-such-check.sh', './no-such-check.sh'],
    ["no-such-pytest -k 'not slow' > out.txt", 'no-such-pytest'],
  ])('is missing in `%s`', async (command, program) => {
    expect(await missingProgram(command, { cwd, env })).toBe(program)
  })

  it.each([
    ['is there', 'cat x'],
    ['stands in the shell itself', 'test -d . && cd .'],
    ['stands in the project', './check.sh --all'],
    ['may be missing', 'no-such-pnpm test || true'],
    ['depends on what happens first', 'if true; then no-such-pnpm; fi'],
    ['stands where a `cd` leads', 'cd web && ./no-such-check.sh'],
    ['stands in quotes', "'no such program' test"],
    ['is looked for in another place', 'PATH=.venv/bin:$PATH no-such-pytest'],
    ['may come from what is read before', '. ./env && no-such-pytest'],
    ['is not written down', '$PNPM test'],
    ['is none', ''],
  ])('is not called missing where it %s', async (_, command) => {
    expect(await missingProgram(command, { cwd, env })).toBeNull()
  })
})

describe.skipIf(process.platform === 'win32')('a program that is hidden', () => {
  const folder = makeFolder()
  put(folder, { check: '#!/bin/sh\n', 'links/.keep': '' })
  symlinkSync('../check', join(folder, 'links/linked'))
  const PATH = `${join(folder, 'links')}:${folder}:/usr/bin:/bin`
  /** Hides what is not on the usual PATH. */
  const start: StartProcess = (command, options) =>
    startProcess(command, { ...options, env: { ...options.env, PATH: '/usr/bin:/bin' } })

  it.each([
    ['check --all', { path: join(folder, 'check'), read: [join(folder, 'check')] }],
    ['cat x && linked', { path: join(folder, 'links/linked'), read: [join(folder, 'links'), folder] }],
    ['cat x', null],
    ['no-such-check', null],
  ])('stands in `%s`', async (command, hidden) => {
    expect(await hiddenProgram(command, { cwd, env: { PATH }, start })).toEqual(hidden)
  })
})

describe.skipIf(process.platform === 'win32')('the program of a script that a gate runs', () => {
  const scripts = {
    test: 'no-such-vitest run',
    lint: 'cat x && no-such-lint',
    there: 'there --all',
    loose: 'no-such-x || true',
  }
  const project = makeFolder()
  const names = ['npm', 'pnpm', 'yarn', 'bun', 'there']
  put(project, {
    'package.json': JSON.stringify({ scripts }),
    'packages/a/package.json': JSON.stringify({ scripts: { test: 'there' } }),
    ...Object.fromEntries(names.map((name) => [`node_modules/.bin/${name}`, '#!/bin/sh\n'])),
  })
  const within = { PATH: `/usr/bin:/bin:${join(project, 'node_modules/.bin')}` }

  it.each([
    ['npm test', 'node_modules/.bin/no-such-vitest'],
    ['npm run lint -- --fix', 'node_modules/.bin/no-such-lint'],
    ['pnpm lint', 'node_modules/.bin/no-such-lint'],
    ['yarn run test', 'node_modules/.bin/no-such-vitest'],
    ['bun run test', 'node_modules/.bin/no-such-vitest'],
    ['bun test', null],
    ['npm run there', null],
    ['npm run loose', null],
    ['npm run not-there', null],
    ['npm ci', null],
  ])('is asked for in `%s`', async (command, missing) => {
    expect(await missingProgram(command, { cwd: project, env: within })).toBe(missing)
  })

  it('may be in the packages of a folder above, or in archives', async () => {
    const bare = { PATH: within.PATH.replace(/:[^:]*$/, '') }
    put(project, { 'packages/a/npm': '#!/bin/sh\n' })
    const env = { PATH: `${join(project, 'packages/a')}:${bare.PATH}` }
    expect(await missingProgram('npm test', { cwd: join(project, 'packages/a'), env })).toBeNull()
    put(project, { '.pnp.cjs': '' })
    expect(await missingProgram('npm test', { cwd: project, env: within })).toBeNull()
  })
})

describe('what a gate prints', () => {
  it.each([
    [127, 'sh: 1: vitest: not found', 'vitest'],
    [127, 'sh: vitest: not found', 'vitest'],
    [127, '/bin/sh: 1: vitest: not found\nerror Command failed with exit code 127.\ninfo Visit x', 'vitest'],
    [127, '> shop@1.0.0 test\n> vitest run\n\nsh: 1: vitest: not found', 'vitest'],
    [127, './check.sh: line 3: go: command not found', 'go'],
    [127, 'zsh:1: command not found: ruff', 'ruff'],
    [127, 'command not found: vitest', 'vitest'],
    [127, '/usr/bin/env: ‘node’: No such file or directory', 'node'],
    [2, 'make: vitest: No such file or directory\nmake: *** [Makefile:2: test] Error 127', 'vitest'],
    [
      2,
      '/bin/sh: 1: go: not found\nmake[1]: *** [Makefile:2: test] Error 127\nmake: *** [all] Error 2',
      'go',
    ],
    [1, 'sh: 1: vitest: not found\n ELIFECYCLE  Test failed. See above.\nspawn ENOENT', 'vitest'],
  ])('with exit code %s names the program that is missing: %s', (code, output, program) => {
    expect(missingIn(output, code)).toBe(program)
  })

  it.each([
    ['where it passed', 0, 'sh: 1: vitest: not found'],
    ['where it was ended', null, 'sh: 1: vitest: not found'],
    ['where nobody passes that on', 1, 'sh: 1: convert: not found\nFAIL picture.test.ts'],
    ['where it was passed on before', 1, 'make: *** [x] Error 127\nsh: 1: convert: not found\n1 test failed'],
    ['where another file is not there', 2, 'make: *** No rule to make target `all`. Error 127'],
    ['where it is a test’s own text', 127, 'expected “sh: 1: vitest: not found” to be “”'],
  ])('names none %s', (_, code, output) => {
    expect(missingIn(output, code)).toBeNull()
  })
})
