import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { openGit } from '../../src/git/door.ts'
import { GitError } from '../../src/git/git.ts'
import { doorOf, ENV, git, makeFolder, makeRepository } from '../repository.ts'

describe('the door to git', () => {
  it('gives back the bytes of stdout, whatever they are', async () => {
    const root = makeRepository()
    const door = doorOf(root)
    const bytes = Buffer.from([0, 255, 10, 13, 200])
    const { stdout } = await door.run(['hash-object', '-w', '--stdin'], { stdin: bytes })
    const blob = await door.run(['cat-file', 'blob', stdout.toString().trim()])
    expect(blob.stdout).toEqual(bytes)
  })

  it('throws what git said where the exit code was not expected, and gives it back where it was', async () => {
    const door = doorOf(makeRepository())
    const missing = ['rev-parse', '--verify', '--quiet', 'refs/heads/none']
    expect((await door.run(missing, { okCodes: [0, 1] })).code).toBe(1)
    await expect(door.run(missing)).rejects.toBeInstanceOf(GitError)
    await expect(door.run(['cat-file', '-p', 'nothing'])).rejects.toMatchObject({
      code: 128,
      stderr: expect.stringContaining('Not a valid object name'),
    })
  })

  it('is not misled by the GIT_ variables of a hook that started ralph', async () => {
    const [here, elsewhere] = [makeRepository({ here: '1' }), makeRepository({ elsewhere: '1' })]
    const door = openGit({
      cwd: here,
      env: {
        ...ENV,
        GIT_DIR: join(elsewhere, '.git'),
        GIT_WORK_TREE: elsewhere,
        GIT_INDEX_FILE: join(elsewhere, '.git/index'),
        GIT_OBJECT_DIRECTORY: join(elsewhere, '.git/objects'),
        GIT_PREFIX: 'x/',
        GIT_LITERAL_PATHSPECS: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'user.name',
        GIT_CONFIG_VALUE_0: 'Grace',
        EDITOR: 'vi',
        PAGER: 'less',
      },
    })
    expect((await door.run(['ls-files'])).stdout.toString()).toBe('here\n')
    expect((await door.run(['config', 'user.name'])).stdout.toString()).toBe('Grace\n')
  })

  it('hands variables on that one command is given', async () => {
    const root = makeRepository()
    const door = doorOf(root)
    const env = { GIT_INDEX_FILE: join(root, '.git/other-index') }
    expect((await door.run(['ls-files'], { env })).stdout).toHaveLength(0)
    expect((await door.run(['ls-files'])).stdout.toString()).toBe('README.md\n')
  })

  it('lets hooks use abbreviated options, as they may', async () => {
    const root = makeRepository()
    writeFileSync(join(root, '.git/hooks/pre-commit'), '#!/bin/sh\ngit branch --lis >/dev/null\n', {
      mode: 0o755,
    })
    writeFileSync(join(root, 'new'), '')
    git(root, 'add', 'new')
    await doorOf(root).run(['commit', '-m', 'Hooked'])
    expect(git(root, 'log', '-1', '--format=%s')).toBe('Hooked')
  })

  it('speaks English and never asks in an editor or a terminal', async () => {
    const root = makeRepository()
    const door = openGit({
      cwd: root,
      env: { ...ENV, LC_ALL: 'de_DE.UTF-8', LANGUAGE: 'de', GIT_EDITOR: 'false' },
    })
    await expect(door.run(['nothing-like-this'])).rejects.toThrow('is not a git command')
    await door.run(['commit', '--allow-empty', '--amend'])
  })

  it('says so where git is not installed', async () => {
    const door = openGit({ cwd: makeFolder(), env: { PATH: '/nowhere' } })
    await expect(door.run(['status'])).rejects.toBeInstanceOf(UserError)
  })

  it('ends a command when its signal is aborted', async () => {
    const root = makeRepository()
    git(root, 'config', 'alias.wait', '!sleep 5')
    const controller = new AbortController()
    const running = doorOf(root).run(['wait'], { signal: controller.signal })
    controller.abort()
    await expect(running).rejects.toThrow('abort')
  })
})
