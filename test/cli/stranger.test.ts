import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { env, git, makeFolder, makeRepository, PROGRAM, projectFolder, put, taskText } from '../repository.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0

/** What each command is asked; those that write are not for a stranger's repository. */
const WRITING = new Set(['init', 'new', 'edit', 'retry', 'reopen', 'answer', 'complete', 'block'])
const ASKED: Readonly<Record<string, readonly (readonly string[])[]>> = {
  next: [
    ['next', '--explain', '--all'],
    ['next', '--prompt'],
  ],
  show: [['show', '1']],
  prompt: [['prompt', '1']],
  attempts: [['attempts', '1']],
  run: [['run', '--dry-run', '--agent', 'script']],
  completion: [['completion', 'bash']],
  mcp: [['mcp', '--print-config', 'claude']],
}
const reading = COMMANDS.filter(({ name }) => !WRITING.has(name)).flatMap(
  ({ name }) => ASKED[name] ?? [[name]],
)

/** Everything by which the configuration of a repository can name a program. */
function hostileSettings(evil: string): string {
  return `
[core]
  fsmonitor = ${evil}
  hooksPath = ${evil}s
  pager = ${evil}
  editor = ${evil}
  sshCommand = ${evil}
  askPass = ${evil}
  alternateRefsCommand = ${evil}
[filter "e=vil"]
  clean = ${evil}
  smudge = ${evil}
  process = ${evil}
  required = true
[diff]
  external = ${evil}
[diff "evil"]
  textconv = ${evil}
  command = ${evil}
[commit]
  gpgSign = true
[log]
  showSignature = true
[gpg]
  program = ${evil}
[alias]
  log = !${evil}
  status = !${evil}
[pager]
  log = ${evil}
  status = ${evil}
[credential]
  helper = !${evil}
[extensions]
  partialClone = origin
[remote "origin"]
  url = ext::${evil}
  promisor = true
[protocol "ext"]
  allow = always
`
}

/** A repository that runs `evil` wherever git lets it, with another in it that lies bare, and one as a submodule. */
function hostileRepository(): { readonly root: string; readonly bare: string; readonly trace: string } {
  const tasks = {
    'docs/tasks/T-001.md': `${taskText('T-001', 'One')}\n- **Touches**: \`a.ts\`\n`,
    'docs/tasks/T-002.md': taskText('T-002', 'Two', { Status: 'DONE' }),
  }
  const trace = makeFolder()
  const evil = join(trace, 'evil')
  const program = `#!/bin/sh\ntouch ${trace}/it-ran\n`
  const hooks = ['pre-commit', 'post-index-change', 'reference-transaction', 'fsmonitor-watchman']
  put(trace, { evil: program, ...Object.fromEntries(hooks.map((name) => [`evils/${name}`, program])) })
  const root = makeRepository({})
  const [sub, bare] = [join(root, 'sub'), join(root, 'package')]
  cpSync(makeRepository(), sub, { recursive: true })
  put(root, { ...tasks, 'package.json': '{}', 'a.ts': 'a\n', '.gitattributes': '* filter=e=vil diff=evil\n' })
  git(root, '-c', 'advice.addEmbeddedRepo=false', 'add', '--all')
  git(root, 'commit', '--quiet', '--message=T-002: Two\n\nTask: T-002')
  // It says of itself that it is not bare, and where its tree is: then git would look at files there.
  cpSync(join(root, '.git'), bare, { recursive: true })
  put(bare, { ...tasks, 'package.json': '{}' })
  const settings = hostileSettings(evil)
  for (const config of [join(root, '.git/config'), join(sub, '.git/config')])
    writeFileSync(config, readFileSync(config, 'utf8') + settings)
  writeFileSync(
    join(bare, 'config'),
    `[core]\n  repositoryformatversion = 0\n  bare = false\n  worktree = ..\n${settings}`,
  )
  // So that git has to read them, and not only their times.
  put(root, { 'a.ts': 'b\n' })
  put(sub, { 'new.txt': '' })
  return { root, bare, trace }
}

/** All that a command finds on PATH: of the agents none. */
function folderWithGit(): string {
  const { stdout } = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' })
  const bin = projectFolder({})
  symlinkSync(stdout.trim(), join(bin, 'git'))
  return bin
}

describe.skipIf(!hasStrace)("in a stranger's repository", () => {
  /** What a command starts, besides itself. */
  function startedBy(cwd: string, argv: readonly string[], bin: string): readonly string[] {
    const log = join(bin, 'execve')
    const strace = ['-f', '-qq', '-e', 'trace=execve', '-e', 'signal=none', '-o', log, '-E', `PATH=${bin}`]
    const { stdout, stderr } = spawnSync('strace', [...strace, process.execPath, PROGRAM, ...argv], {
      cwd,
      env,
      encoding: 'utf8',
    })
    expect(`${stdout}${stderr}`).not.toBe('')
    const lines = readFileSync(log, 'utf8').split('\n')
    const started = lines.flatMap((line) => /execve\("([^"]+)".* = 0$/.exec(line)?.[1] ?? [])
    expect(started[0]).toBe(process.execPath)
    return started.slice(1)
  }

  /** One for all commands: none of them writes. */
  let place: ReturnType<typeof hostileRepository> | undefined

  it.each(reading.map((argv) => [argv.join(' '), argv]))('ralph %s starts nothing but git', (_, argv) => {
    const { root, bare, trace } = (place ??= hostileRepository())
    const bin = folderWithGit()
    for (const cwd of [root, bare])
      expect(startedBy(cwd, argv, bin).filter((path) => basename(path) !== 'git')).toEqual([])
    expect(existsSync(join(trace, 'it-ran'))).toBe(false)
  })

  it('would have started more by itself', () => {
    for (const cwd of ['root', 'bare'] as const) {
      const other = hostileRepository()
      spawnSync('git', ['status'], { cwd: other[cwd], env })
      expect(existsSync(join(other.trace, 'it-ran'))).toBe(true)
    }
  })
})
