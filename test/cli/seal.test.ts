import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { env, git, makeFolder, makeRepository, PROGRAM, put, taskText } from '../repository.ts'
import { repository, run } from './script-repository.ts'
import { by, jsonOf } from './ralph.ts'

const SEALED = { commit: { seal: true, digits: 4 } }
const SCRIPT = 'echo one > one.txt'

async function states(cwd: string): Promise<string[]> {
  return (await jsonOf(cwd, 'verify')).tasks.map(({ state }: { state: string }) => state)
}

const named = (cwd: string, id: string): string =>
  /\*\*Commit\*\*: (\w+)/.exec(readFileSync(join(cwd, `docs/tasks/${id}.md`), 'utf8'))?.[1] ?? 'none'

/** What must hold of a task that is done and sealed, and of nothing else being there. */
async function expectSealed(cwd: string, id = 'T-001'): Promise<void> {
  const head = git(cwd, 'rev-parse', 'HEAD')
  expect(head.startsWith(named(cwd, id))).toBe(true)
  expect(await states(cwd)).toEqual(['sealed'])
  expect(git(cwd, 'status', '--porcelain')).toBe('')
  expect(git(cwd, 'fsck', '--strict', '--no-dangling')).toBe('')
}

describe('a run that ends between a commit and its seal', () => {
  /** The whole program, ended while it searches for a seal; it is slow to find one with so many digits. */
  const ended = async (end: (child: ChildProcess) => void) => {
    const cwd = repository({ 'T-001': SCRIPT }, { commit: { seal: true, digits: 8 } })
    const args = [PROGRAM, 'run', '--agent', 'script', '--baseline', 'off', '--json']
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] })
    const over = once(child, 'close')
    for await (const line of createInterface(child.stdout)) {
      if (line.includes('"type":"sealing"')) end(child)
    }
    const [code, signal] = (await over) as [number | null, string | null]
    put(cwd, { 'ralph.config.json': JSON.stringify({ gates: [], ...SEALED }) })
    return { cwd, code, signal }
  }

  it.each([
    ['killed, and its notes are gone', 'SIGKILL', { signal: 'SIGKILL' }],
    ['interrupted', 'SIGINT', { code: 130 }],
  ] as const)(
    'because it was %s has moved nothing, and the next lands its work, sealed',
    async (_, signal, end) => {
      const { cwd, ...how } = await ended((child) => child.kill(signal))
      expect(how).toMatchObject(end)
      expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
      expect(existsSync(join(cwd, 'one.txt'))).toBe(false)
      expect((await by(cwd, 'verify')).stdout).toContain('No task is DONE.')
      if (signal === 'SIGKILL') rmSync(join(cwd, '.ralph'), { recursive: true })
      git(cwd, 'commit', '--quiet', '--all', '--message=Fewer digits')
      expect((await run(cwd, '--loop')).code).toBe(0)
      await expectSealed(cwd)
      expect(git(cwd, 'log', '--format=%s')).toBe('T-001: Do T-001\nFewer digits\nBegin')
      expect(git(cwd, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
    },
  )
})

describe('a whole run', () => {
  it('seals its commit where a hook makes one of its own, which stays in the clean room', async () => {
    const cwd = repository({ 'T-001': SCRIPT }, SEALED)
    const bump = 'git -c core.hooksPath=/dev/null commit --quiet --allow-empty --message=Bump'
    put(cwd, { '.git/hooks/post-commit': `#!/bin/sh\n${bump}\n` })
    await run(cwd)
    await expectSealed(cwd)
    expect(git(cwd, 'log', '--all', '--format=%s')).not.toContain('Bump')
  })

  it('seals in a SHA-256 repository', async () => {
    const files = {
      'docs/tasks/T-001.md': `${taskText('T-001', 'Do it')}\n## Script\n\n\`\`\`sh\n${SCRIPT}\n\`\`\`\n`,
      'ralph.config.json': JSON.stringify({ gates: [], ...SEALED }),
    }
    const cwd = makeRepository(files, 'sha256')
    await run(cwd)
    expect(git(cwd, 'rev-parse', 'HEAD')).toHaveLength(64)
    await expectSealed(cwd)
  })

  it('seals in a linked worktree, and moves no other branch', async () => {
    const main = repository({ 'T-001': SCRIPT }, SEALED)
    const cwd = join(makeFolder(), 'beside')
    git(main, 'worktree', 'add', '--quiet', '-b', 'beside', cwd)
    const before = git(main, 'rev-parse', 'main')
    await run(cwd)
    await expectSealed(cwd)
    expect(git(main, 'rev-parse', 'main')).toBe(before)
    expect(git(main, 'status', '--porcelain')).toBe('')
  })

  it('seals what ssh has signed', async () => {
    const keys = makeFolder()
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ana', '-f', join(keys, 'key')])
    const key = readFileSync(join(keys, 'key.pub'), 'utf8')
    put(keys, { signers: `ana@example.com ${key}` })
    const cwd = repository({ 'T-001': SCRIPT }, SEALED)
    git(cwd, 'config', 'commit.gpgSign', 'true')
    git(cwd, 'config', 'gpg.format', 'ssh')
    git(cwd, 'config', 'user.signingKey', join(keys, 'key.pub'))
    git(cwd, 'config', 'gpg.ssh.allowedSignersFile', join(keys, 'signers'))
    await run(cwd)
    await expectSealed(cwd)
    expect(git(cwd, 'log', '-1', '--format=%G?')).toBe('G')
  })

  it('seals what gpg has signed', async () => {
    const home = makeFolder()
    mkdirSync(join(home, 'gnupg'), { mode: 0o700 })
    const own = { ...env, GNUPGHOME: join(home, 'gnupg') }
    onTestFinished(() => void execFileSync('gpgconf', ['--kill', 'all'], { env: own }))
    const generate = ['--quick-generate-key', 'Ana <ana@example.com>', 'ed25519', 'sign', 'never']
    execFileSync('gpg', ['--batch', '--quiet', '--passphrase', '', ...generate], { env: own, stdio: 'pipe' })
    const program = join(home, 'gpg')
    put(home, { gpg: `#!/bin/sh\nGNUPGHOME='${own.GNUPGHOME}' exec gpg "$@"\n` })
    const cwd = repository({ 'T-001': SCRIPT }, SEALED)
    git(cwd, 'config', 'commit.gpgSign', 'true')
    git(cwd, 'config', 'gpg.program', program)
    await run(cwd)
    await expectSealed(cwd)
    expect(git(cwd, 'log', '-1', '--format=%G?')).toBe('G')
  })
})

describe('a task that was reverted', () => {
  it('is told as reverted by log and show, and is nothing to verify', async () => {
    const cwd = repository({ 'T-001': SCRIPT }, SEALED)
    await run(cwd)
    git(cwd, 'revert', '--no-edit', 'HEAD')
    expect((await by(cwd, 'log')).stdout).toMatch(/T-001 {2}Do T-001 {2}reverted since/)
    expect((await by(cwd, 'log', '--markdown')).stdout).not.toContain('T-001')
    expect((await by(cwd, 'show', '1')).stdout).toContain('reverted since')
    expect((await by(cwd, 'verify')).stdout).toBe('No task is DONE.\n')
    git(cwd, 'revert', '--no-edit', 'HEAD')
    expect((await by(cwd, 'show', '1')).stdout).not.toContain('reverted since')
    expect(await states(cwd)).toEqual(['sealed'])
  })
})

describe('ralph verify', () => {
  it('says in a shallow clone what it would need', async () => {
    const cwd = repository({ 'T-001': SCRIPT, 'T-002': 'echo two > two.txt' }, SEALED)
    await run(cwd, '--loop')
    const clone = makeFolder()
    git(clone, 'clone', '--quiet', '--depth=1', `file://${cwd}`, '.')
    const { code, stdout } = await by(clone, 'verify')
    expect(code).toBe(1)
    expect(stdout).toContain('2 tasks done: 1 sealed, 1 missing')
    expect(stdout).toContain('git fetch --unshallow')
    const cutOff = async (at: string): Promise<unknown> => (await jsonOf(at, 'verify')).cutOff
    expect([await cutOff(clone), await cutOff(cwd)]).toEqual([true, false])
    git(clone, 'fetch', '--quiet', '--unshallow')
    expect((await by(clone, 'verify')).code).toBe(0)
  })

  it('names the commit of a squash that dropped what the commits said, and mends the field', async () => {
    const cwd = repository({ 'T-001': SCRIPT }, SEALED)
    git(cwd, 'checkout', '--quiet', '-b', 'feature')
    await run(cwd)
    git(cwd, 'checkout', '--quiet', 'main')
    git(cwd, 'merge', '--quiet', '--squash', 'feature')
    git(cwd, 'commit', '--quiet', '--message=Add it all')
    const squash = git(cwd, 'rev-parse', 'HEAD')
    const { code, stdout } = await by(cwd, 'verify')
    expect(code).toBe(1)
    expect(stdout).toContain(`not in this history; ${squash.slice(0, 7)} turned the file DONE`)
    expect((await by(cwd, 'verify', '--fix')).code).toBe(0)
    expect(squash.startsWith(named(cwd, 'T-001'))).toBe(true)
    expect(git(cwd, 'rev-list', '--count', `${squash}..HEAD`)).toBe('1')
    expect(await states(cwd)).toEqual(['matches'])
  })
})
