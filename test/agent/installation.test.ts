import { delimiter } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installationOf, isNewEnough } from '../../src/agents/installation.ts'
import { folderWith } from '../process/programs.ts'
import { makeFolder } from '../repository.ts'

const root = makeFolder()

describe.skipIf(process.platform === 'win32')('an installed program', () => {
  /** What is found out of a program that runs this script. */
  const ask = (script: string, more: { timeoutSeconds?: number; signal?: AbortSignal } = {}) => {
    const env = { PATH: [folderWith('agent', script), process.env['PATH']].join(delimiter) }
    return installationOf('agent', { cwd: root, env, ...more })
  }

  test.each([
    ['echo "2.1.326 (Claude Code)"', '2.1.326'],
    ['echo v2.1.99', '2.1.99'],
    ['echo agent 2.2 >&2', '2.2'],
    ['echo "old terminal 1.0" >&2; echo 2.1.0-beta', '2.1.0'],
    ['echo none', null],
  ])('that answers `%s` has its version', async (script, version) => {
    expect(await ask(script)).toMatchObject({ version, failure: null })
  })

  test('is told by its path', async () => {
    expect((await ask('echo 1.0'))?.path).toMatch(/ralph-test-\w+.agent$/)
  })

  test('that fails says why, and the version of its Node is not taken for its own', async () => {
    const script =
      "cat >&2 <<'END'\n/opt/agent.js:1\nSyntaxError: Unexpected token\n    at wrap (node:internal)\n\nNode.js v18.1.0\nEND\nexit 1"
    expect(await ask(script)).toMatchObject({
      version: null,
      failure: 'SyntaxError: Unexpected token Node.js v18.1.0',
    })
    expect(await ask('exit 3')).toMatchObject({ version: null, failure: 'it exits with 3' })
  })

  test('that does not answer is not waited for, and has not failed', async () => {
    const silent = { version: null, failure: null }
    expect(await ask('exec sleep 60', { timeoutSeconds: 0.1 })).toMatchObject(silent)
    expect(await ask('exec sleep 60', { signal: AbortSignal.abort() })).toMatchObject(silent)
  })

  test('that is not there, or is not needed, is none', async () => {
    expect(await installationOf('no', { cwd: root, env: { PATH: root } })).toBeNull()
    expect(await installationOf(null, { cwd: root, env: { PATH: root } })).toBeNull()
  })
})

test.each([
  ['2.1.326', '2.1.326', true],
  ['2.1.326', '2.1.99', false],
  ['2.1.326', '2.2', true],
  ['2.1', '2.1.0', true],
  ['2.1', null, null],
  [null, '0.1', true],
  [null, null, true],
])('where %s is needed, %s is new enough: %s', (minimum, version, answer) => {
  expect(isNewEnough(version, minimum)).toBe(answer)
})
