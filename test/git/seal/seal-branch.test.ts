import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openGit } from '../../../src/git/door.ts'
import { type Git, GitError } from '../../../src/git/git.ts'
import type { Algorithm } from '../../../src/git/seal/block-hash.ts'
import { wantedPrefix } from '../../../src/git/seal/commit-object.ts'
import { pickPrefix } from '../../../src/git/seal/prefix.ts'
import { sealBranch, type SealTarget } from '../../../src/git/seal/seal-branch.ts'
import { ENV, git, makeFolder, makeRepository, put } from '../repository.ts'

const PORTS = { signal: new AbortController().signal, now: () => 0 }

/** A repository whose last commit finishes a task and waits for its seal. */
function pending(options: Pending = {}): { root: string; door: Git; target: SealTarget; prefix: string } {
  const { algorithm = 'sha1', message, config = {}, prefix = 'a41f', args = [] } = options
  const root = makeFolder()
  git(root, 'init', '-q', '-b', 'main', `--object-format=${algorithm}`)
  const all = { 'user.name': 'Ada', 'user.email': 'ada@example.com', ...config }
  for (const [key, value] of Object.entries(all)) git(root, 'config', key, value)
  for (const [hook, script] of Object.entries(options.hooks ?? {})) writeHook(root, hook, script)
  put(root, { 'T-004.md': `# T-004: Add it\n\n- **Commit**: ${prefix}\n` })
  git(root, 'add', '-A')
  const text = message ?? Buffer.from(`T-004: Add it\n\nNotes.\n\nTask: T-004\nSeal: ${prefix}\n`)
  execFileSync('git', ['commit', '-q', '--file=-', ...args], {
    cwd: root,
    env: ENV,
    input: text,
    stdio: 'pipe',
  })
  const commit = git(root, 'rev-parse', 'HEAD')
  return {
    root,
    door: openGit({ cwd: root, env: ENV }),
    target: { commit, ref: 'refs/heads/main', algorithm },
    prefix,
  }
}

interface Pending {
  readonly algorithm?: Algorithm
  readonly message?: Uint8Array
  readonly config?: Readonly<Record<string, string>>
  readonly hooks?: Readonly<Record<string, string>>
  readonly prefix?: string
  readonly args?: readonly string[]
}

function writeHook(root: string, name: string, script: string): void {
  const path = join(root, '.git/hooks', name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

function raw(root: string, name: string): Buffer {
  return execFileSync('git', ['cat-file', 'commit', name], { cwd: root, env: ENV, maxBuffer: 2 ** 26 })
}

/** Whether a commit's message asks for a hash that the commit does not have. */
function isSealPending(hash: string, commit: Buffer): boolean {
  const prefix = wantedPrefix(commit)
  return prefix !== null && !hash.startsWith(prefix)
}

/** Seals, and expects what has to hold of every sealed commit. */
async function sealed(made: ReturnType<typeof pending>): Promise<{ before: Buffer; after: Buffer }> {
  const { root, door, target, prefix } = made
  const before = raw(root, target.commit)
  expect(isSealPending(target.commit, before)).toBe(true)
  const outcome = await sealBranch(door, target, PORTS)
  const hash = git(root, 'rev-parse', 'HEAD')
  expect(outcome).toMatchObject({ kind: 'sealed', hash, prefix })
  expect(hash.startsWith(prefix)).toBe(true)
  const after = raw(root, hash)
  expect(isSealPending(hash, after)).toBe(false)
  expect(git(root, 'status', '--porcelain')).toBe('')
  expect(git(root, 'rev-parse', 'HEAD^{tree}')).toBe(git(root, 'rev-parse', `${target.commit}^{tree}`))
  execFileSync('git', ['fsck', '--strict', '--no-dangling'], { cwd: root, env: ENV, stdio: 'pipe' })
  return { before, after }
}

/** A commit without its seal line, whatever it holds. */
function unsealed(commit: Buffer): string {
  return commit.toString('latin1').replace(/^ ?Seal: .*(?:\n|$)/gm, '')
}

describe('sealing a branch', () => {
  it('moves it to a commit that differs in its seal alone', async () => {
    const made = pending()
    const { before, after } = await sealed(made)
    expect(unsealed(after)).toBe(unsealed(before))
    expect(after.toString()).toMatch(/\nTask: T-004\nSeal: [g-z][0-9a-z]{8,}\n$/)
    expect(git(made.root, 'log', '-1', '--format=%(trailers:key=Task,valueonly)').trim()).toBe('T-004')
    expect(git(made.root, 'show', '-s', '--format=%H', made.prefix)).toBe(git(made.root, 'rev-parse', 'HEAD'))
  })

  it('says in the reflogs of the branch and of HEAD what happened', async () => {
    const made = pending()
    await sealed(made)
    const expected = `ralph: seal ${made.target.commit.slice(0, 10)}`
    for (const ref of ['main', 'HEAD'])
      expect(git(made.root, 'log', '-g', '-1', '--format=%gs', ref)).toBe(expected)
  })

  it('works in a SHA-256 repository', async () => {
    await sealed(pending({ algorithm: 'sha256' }))
  })

  it('works on a detached HEAD', async () => {
    const made = pending()
    git(made.root, 'checkout', '-q', '--detach')
    await sealed({ ...made, target: { ...made.target, ref: 'HEAD' } })
    expect(git(made.root, 'rev-parse', 'main')).toBe(made.target.commit)
  })

  it('works in a linked worktree, and leaves the other checkout alone', async () => {
    const root = makeRepository()
    const main = git(root, 'rev-parse', 'HEAD')
    const tree = join(makeFolder(), 'tree')
    git(root, 'worktree', 'add', '-q', '-b', 'side', tree)
    put(tree, { 'a.txt': 'a' })
    git(tree, 'add', '-A')
    git(tree, 'commit', '-q', '-m', `T-004: Add it\n\nTask: T-004\nSeal: beef`)
    const commit = git(tree, 'rev-parse', 'HEAD')
    const target = { commit, ref: 'refs/heads/side', algorithm: 'sha1' } as const
    await sealed({ root: tree, door: openGit({ cwd: tree, env: ENV }), target, prefix: 'beef' })
    expect(git(root, 'rev-parse', 'HEAD')).toBe(main)
    expect(git(tree, 'reflog', '-1', '--format=%gs')).toBe(`ralph: seal ${commit.slice(0, 10)}`)
  })

  it('works in worker threads, which find the very same commit', async () => {
    const made = pending({ prefix: 'a41f7' })
    const here = await sealBranch(made.door, made.target, { ...PORTS, threads: 0 })
    git(made.root, 'update-ref', 'refs/heads/main', made.target.commit)
    const there = await sealBranch(made.door, made.target, { ...PORTS, threads: 3 })
    expect(there).toEqual(here)
    expect(there.kind).toBe('sealed')
  })

  it('does nothing to a commit that is sealed, or that asks for no seal', async () => {
    const made = pending()
    await sealed(made)
    const again = { ...made.target, commit: git(made.root, 'rev-parse', 'HEAD') }
    expect(await sealBranch(made.door, again, PORTS)).toEqual({ kind: 'nothing-to-seal' })
    const notes = Buffer.from('T-004: Add it\n\nThe other tool writes\n\nSeal: beef\n\nTask: T-004\n')
    const other = pending({ message: notes })
    expect(await sealBranch(other.door, other.target, PORTS)).toEqual({ kind: 'nothing-to-seal' })
  })

  it('leaves a branch alone that moved meanwhile, and says where to', async () => {
    const made = pending()
    const meanwhile = moving(made.door, 'hash-object', () =>
      git(made.root, 'commit', '-q', '--allow-empty', '-m', 'Other'),
    )
    const outcome = await sealBranch(meanwhile, made.target, PORTS)
    const now = git(made.root, 'rev-parse', 'HEAD')
    expect(outcome).toEqual({ kind: 'moved', to: now })
    expect(git(made.root, 'rev-parse', 'HEAD^')).toBe(made.target.commit)
  })

  it('leaves a branch alone that is gone', async () => {
    const made = pending()
    const meanwhile = moving(made.door, 'hash-object', () => {
      git(made.root, 'checkout', '-q', '--detach')
      git(made.root, 'branch', '-qD', 'main')
    })
    expect(await sealBranch(meanwhile, made.target, PORTS)).toEqual({ kind: 'moved', to: null })
  })

  it('tells a ref that it cannot move from one that has moved', async () => {
    const made = pending()
    writeFileSync(join(made.root, '.git/refs/heads/main.lock'), '')
    await expect(sealBranch(made.door, made.target, PORTS)).rejects.toBeInstanceOf(GitError)
  })

  it('never believes the search where git names the commit otherwise', async () => {
    const made = pending()
    const lying: Git = {
      ...made.door,
      run: async (args, options) => {
        const result = await made.door.run(args, options)
        return args[0] === 'hash-object' ? { ...result, stdout: Buffer.from(`${'0'.repeat(40)}\n`) } : result
      },
    }
    await expect(sealBranch(lying, made.target, PORTS)).rejects.toThrow(/git names the sealed commit 0000/)
    expect(git(made.root, 'rev-parse', 'HEAD')).toBe(made.target.commit)
  })

  it('is cancelled at once, and has changed nothing', async () => {
    const made = pending({ prefix: 'a41f7c22' })
    const stop = new AbortController()
    let told = 0
    const now = () => told++ * 1000
    const cancelled = sealBranch(made.door, made.target, {
      signal: stop.signal,
      now,
      threads: 2,
      onProgress: () => stop.abort(),
    })
    expect(await cancelled).toEqual({ kind: 'cancelled' })
    expect(git(made.root, 'rev-parse', 'HEAD')).toBe(made.target.commit)
  })
})

/** The door, with something that happens right before one command. */
function moving(door: Git, command: string, happen: () => void): Git {
  return {
    ...door,
    run: (args, options) => {
      if (args[0] === command) happen()
      return door.run(args, options)
    },
  }
}

describe('a crash while sealing', () => {
  it.each(['cat-file', 'hash-object', 'update-ref'])(
    'before or after %s leaves what the next run finishes, with the same commit',
    async (command) => {
      const made = pending()
      for (const when of ['before', 'after'] as const) {
        const dying: Git = {
          ...made.door,
          run: async (args, options) => {
            if (args[0] === command && when === 'before') throw new Error('killed')
            const result = await made.door.run(args, options)
            if (args[0] === command) throw new Error('killed')
            return result
          },
        }
        await expect(sealBranch(dying, made.target, PORTS)).rejects.toThrow('killed')
        const head = git(made.root, 'rev-parse', 'HEAD')
        const landed = command === 'update-ref' && when === 'after'
        expect(isSealPending(head, raw(made.root, head))).toBe(!landed)
      }
      const head = git(made.root, 'rev-parse', 'HEAD')
      await sealBranch(made.door, { ...made.target, commit: head }, PORTS)
      const named = git(made.root, 'rev-parse', `--disambiguate=${made.prefix}`)
      expect(named).toBe(git(made.root, 'rev-parse', 'HEAD'))
    },
  )
})

describe('what a commit holds is kept', () => {
  const cases: Record<string, Pending> = {
    'UTF-8': {
      message: Buffer.from(`T-004: Füge es hinzu ✓ 로그인\n\nNoten – „so“.\n\nTask: T-004\nSeal: a41f\n`),
    },
    'latin-1, with its encoding header': {
      config: { 'i18n.commitEncoding': 'ISO-8859-1' },
      message: Buffer.from('T-004: Füge es hinzu\n\nSchön.\n\nTask: T-004\nSeal: a41f\n', 'latin1'),
    },
    'a subject alone': { message: Buffer.from('T-004: Add it\n\nTask: T-004\nSeal: a41f\n') },
    'a megabyte of notes': {
      message: Buffer.from(
        `T-004: Add it\n\n${'A line of notes, again.\n'.repeat(45_000)}\nTask: T-004\nSeal: a41f\n`,
      ),
    },
    'trailers that a hook adds': {
      hooks: { 'commit-msg': `printf 'Change-Id: I0123\\nSigned-off-by: Bob <b@c>\\n' >> "$1"` },
    },
    'a body that a hook adds behind the trailers': {
      hooks: { 'commit-msg': `printf '\\nSee also the wiki.\\n' >> "$1"` },
    },
    'blank lines at the end': {
      args: ['--cleanup=verbatim'],
      message: Buffer.from('T-004: A\n\nTask: T-004\nSeal: a41f\n\n\n\n'),
    },
    'no newline at the end': {
      args: ['--cleanup=verbatim'],
      message: Buffer.from('T-004: A\n\nTask: T-004\nSeal: a41f'),
    },
    'CRLF in the notes': {
      args: ['--cleanup=verbatim'],
      message: Buffer.from('T-004: A\r\n\r\nOne\r\n\nTask: T-004\nSeal: a41f\n'),
    },
    'a date of its own': { args: ['--date=2005-04-07T22:13:13 +0545', '--author=Bob <bob@example.com>'] },
  }
  it.each(Object.keys(cases))('%s', async (name) => {
    const { before, after } = await sealed(pending(cases[name]))
    expect(unsealed(after).trimEnd()).toBe(unsealed(before).trimEnd())
    expect(after.toString('latin1')).toMatch(/\nSeal: [g-z][0-9a-z]{8,71}\n$/)
  })

  it('the seal stays in one block with the trailers that a hook adds', async () => {
    const made = pending({ hooks: { 'commit-msg': `printf 'Change-Id: I0123\\n' >> "$1"` } })
    await sealed(made)
    const keys = git(made.root, 'log', '-1', '--format=%(trailers:keyonly)').trim()
    expect(keys).toBe('Task\nChange-Id\nSeal')
  })

  it('many parents and headers that ralph does not know', async () => {
    const made = pending()
    const [tree, author, committer] = raw(made.root, 'HEAD').toString().split('\n')
    const parents = Array.from({ length: 40 }, (_, n) => {
      const name = git(made.root, 'commit-tree', '-m', `side ${n}`, tree!.slice(5))
      return `parent ${name}`
    })
    const extra = ['x-note first', ' second line', 'HG:extra branch:default']
    const text = [
      tree,
      ...parents,
      author,
      committer,
      ...extra,
      '',
      'T-004: Merge all',
      '',
      'Task: T-004',
      'Seal: a41f',
      '',
    ].join('\n')
    const written = spawnSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
      cwd: made.root,
      input: text,
    })
    const commit = written.stdout.toString().trim()
    git(made.root, 'update-ref', 'refs/heads/main', commit)
    const { before, after } = await sealed({ ...made, target: { ...made.target, commit } })
    expect(unsealed(after)).toBe(unsealed(before))
  })
})

/** Whether a program is here at all: without it git cannot sign with it either. */
const has = (program: string, ...args: string[]) => !spawnSync(program, args).error

describe('a signed commit', () => {
  it.runIf(has('ssh-keygen', '-?')).each(['sha1', 'sha256'] as const)(
    'stays signed and good with ssh in a %s repository',
    async (algorithm) => {
      const keys = makeFolder()
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ada', '-f', join(keys, 'key')])
      const signers = join(keys, 'signers')
      writeFileSync(signers, `ada@example.com ${readFileSync(join(keys, 'key.pub'), 'utf8')}`)
      const config = {
        'gpg.format': 'ssh',
        'user.signingKey': join(keys, 'key.pub'),
        'gpg.ssh.allowedSignersFile': signers,
        'commit.gpgSign': 'true',
      }
      const made = pending({ algorithm, config })
      const { before, after } = await sealed(made)
      expect(git(made.root, 'log', '-1', '--format=%G?')).toBe('G')
      git(made.root, 'verify-commit', 'HEAD')
      expect(messageOf(after)).toBe(messageOf(before))
      expect(after.toString()).toMatch(/-----END SSH SIGNATURE-----\n Seal: [g-z][0-9a-z]{8,}\n\n/)
    },
  )

  it.each(['sha1', 'sha256'] as const)(
    'stays signed and good with gpg in a %s repository',
    async (algorithm) => {
      const home = makeFolder()
      mkdirSync(join(home, 'gnupg'), { mode: 0o700 })
      const env = { ...ENV, GNUPGHOME: join(home, 'gnupg') }
      const gpg = (...args: string[]) =>
        execFileSync('gpg', ['--batch', '--quiet', ...args], { env, stdio: 'pipe' })
      gpg('--passphrase', '', '--quick-generate-key', 'Ada <ada@example.com>', 'ed25519', 'sign', 'never')
      const program = join(home, 'gpg')
      writeFileSync(program, `#!/bin/sh\nGNUPGHOME='${env.GNUPGHOME}' exec gpg "$@"\n`)
      chmodSync(program, 0o755)
      try {
        const made = pending({ algorithm, config: { 'gpg.program': program, 'commit.gpgSign': 'true' } })
        const { before, after } = await sealed(made)
        expect(git(made.root, 'log', '-1', '--format=%G?')).toBe('G')
        git(made.root, 'verify-commit', 'HEAD')
        expect(messageOf(after)).toBe(messageOf(before))
        expect(unsealed(after).slice(0, unsealed(after).indexOf('\n\n'))).toBe(
          unsealed(before).slice(0, unsealed(before).indexOf('\n\n')),
        )
      } finally {
        execFileSync('gpgconf', ['--kill', 'all'], { env })
      }
    },
  )
})

function messageOf(commit: Buffer): string {
  const text = commit.toString('latin1')
  return text.slice(text.indexOf('\n\n'))
}

describe('picking a prefix', () => {
  it('takes the first that no object of the repository begins with', async () => {
    const root = makeRepository()
    const head = git(root, 'rev-parse', 'HEAD')
    const door = openGit({ cwd: root, env: ENV })
    const taken = [4, 5, 6, 7, 8].map((digits) => head.slice(0, digits))
    expect(await pickPrefix(door, 7, () => [...taken, 'a41f7c2', 'a41f7c3'])).toBe('a41f7c2')
  })

  it('takes none that a branch or a tag is called', async () => {
    const root = makeRepository()
    git(root, 'branch', 'decaf')
    git(root, 'tag', 'facade')
    const door = openGit({ cwd: root, env: ENV })
    expect(await pickPrefix(door, 5, () => ['decaf', 'facade', 'c0ffe'])).toBe('c0ffe')
  })

  it('offers nothing that looks like a number', async () => {
    const door = openGit({ cwd: makeRepository(), env: ENV })
    for (let n = 0; n < 5; n++)
      expect(await pickPrefix(door, 4)).toMatch(/^(?=.*[a-f])(?!\d+e\d+$)[0-9a-f]{4}$/)
  })

  it('says what to set where all are taken', async () => {
    const root = makeRepository()
    const head = git(root, 'rev-parse', '--short=4', 'HEAD')
    const door = openGit({ cwd: root, env: ENV })
    await expect(pickPrefix(door, 4, () => [head])).rejects.toThrow(/no commit can be named by 4 digits/)
  })
})
