import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findOnPath, firstInstalled, installationOf } from '../../src/agent/detect.ts'
import { jsonProvider } from './steered-agent.ts'

const root = mkdtempSync(join(tmpdir(), 'ralph-detect-'))
afterAll(() => rmSync(root, { recursive: true }))

/** A folder with a program that runs this script. */
function folderWith(name: string, script: string, mode = 0o755): string {
  const folder = mkdtempSync(join(root, 'bin-'))
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), mode)
  return folder
}

const provider = (name: string, minimumVersion: string | null = null) => ({
  ...jsonProvider({ program: name, args: [] }),
  name,
  binary: name,
  minimumVersion,
})

describe.skipIf(process.platform === 'win32')('on PATH', () => {
  test('the first executable of that name is found', () => {
    const plain = folderWith('one', '', 0o644)
    const first = folderWith('one', '')
    const second = folderWith('one', '')
    const folder = mkdtempSync(join(root, 'dir-'))
    mkdirSync(join(folder, 'one'))
    const env = { PATH: ['', join(root, 'none'), folder, plain, first, second].join(delimiter) }
    expect(findOnPath('one', env)).toBe(join(first, 'one'))
    expect(findOnPath('two', env)).toBeNull()
    expect(findOnPath('one', {})).toBeNull()
  })

  test('the first agent in the order given is taken, and none that needs no program', () => {
    const env = { PATH: [folderWith('b', ''), folderWith('a', '')].join(delimiter) }
    const builtIn = { ...provider('x'), binary: null }
    expect(firstInstalled([builtIn, provider('c'), provider('a'), provider('b')], env)?.name).toBe('a')
    expect(firstInstalled([builtIn], env)).toBeNull()
  })
})

describe.skipIf(process.platform === 'win32')('an installed agent', () => {
  test.each([
    ['2.1.326', 'echo "2.1.326 (Claude Code)"', '2.1.326', true],
    ['2.1.326', 'echo "v2.1.99"', '2.1.99', false],
    ['2.1.326', 'echo agent 2.2', '2.2', true],
    ['2.1', 'echo 2.1.0-beta', '2.1.0', true],
    ['2.1', 'exit 1', null, null],
    [null, 'echo 0.1', '0.1', true],
  ])('of which %s is needed and which runs `%s`', async (minimum, script, version, isNewEnough) => {
    const folder = folderWith('agent', script)
    const env = { PATH: [folder, process.env['PATH']].join(delimiter) }
    expect(await installationOf(provider('agent', minimum), { cwd: root, env })).toEqual({
      path: join(folder, 'agent'),
      version,
      isNewEnough,
    })
  })

  test('that does not answer is not waited for', async () => {
    const env = { PATH: [folderWith('slow', 'exec sleep 60'), process.env['PATH']].join(delimiter) }
    const found = await installationOf(provider('slow', '1.0'), { cwd: root, env, timeoutSeconds: 0.1 })
    expect(found).toMatchObject({ version: null, isNewEnough: null })
  })

  test('that is not there is none', async () => {
    expect(await installationOf(provider('no'), { cwd: root, env: { PATH: root } })).toBeNull()
  })
})
