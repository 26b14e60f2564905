import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { taskEnvironment } from '../../src/agents/providers/request.ts'
import { by } from './ralph.ts'
import { git } from '../repository.ts'
import { repository } from './script-repository.ts'

const page = readFileSync(new URL('../../docs/command-agent.md', import.meta.url), 'utf8')

const examples = [...page.matchAll(/<!-- example: (\S+) -->\n```\w+\n([\s\S]*?)```\n/g)].map(
  ([, file, text]) => ({ file: file!, text: text! }),
)

/** A repository with one task, outside of whose folder the agent of the page stands. */
function project({ file, text }: (typeof examples)[number]): { cwd: string; command: string } {
  const cwd = repository({ 'T-001': 'echo "for greeting.txt"' })
  const command = join(cwd, '.git', file)
  writeFileSync(command, text)
  chmodSync(command, 0o755)
  return { cwd, command }
}

describe.skipIf(process.platform === 'win32')('the page of the command agent', () => {
  it('has an example in bash, Python and Node', () => {
    expect(examples.map(({ file }) => file)).toEqual(['agent.sh', 'agent.py', 'agent.mjs'])
  })

  it.each(examples)('$file does a task, with its notes', async (example) => {
    const { cwd, command } = project(example)
    const argv = ['run', '--agent', 'command', '--command', command, '--baseline', 'off']
    const { code, stderr, stdout } = await by(cwd, ...argv)
    expect(stdout + stderr).toContain('T-001')
    expect(code).toBe(0)
    expect(git(cwd, 'show', 'HEAD:greeting.txt')).toBe('Hello from attempt 1 at T-001')
    expect(git(cwd, 'log', '-1', '--format=%s%n%b')).toMatch(
      /^T-001: .*\n1 file \+1 −0.*\n\ncommand writes:\n\nWrote greeting\.txt\.\n/,
    )
  })

  it.each(examples)('$file says what it cannot do', async (example) => {
    const { cwd, command } = project({
      ...example,
      text: example.text.replaceAll('greeting.txt', 'farewell.txt'),
    })
    const argv = [
      'run',
      '--agent',
      'command',
      '--command',
      command,
      '--baseline',
      'off',
      '--on-failure',
      'block',
    ]
    const { code, stdout } = await by(cwd, ...argv)
    expect(stdout).toContain('I can only write farewell.txt')
    expect(code).toBe(1)
    expect(git(cwd, 'show', 'HEAD:docs/tasks/T-001.md')).toContain('BLOCKED')
  })

  it('names each variable that a program gets, and no other', () => {
    const task = { id: 'T-001', file: '', attempt: 1, notesFile: '' }
    const request = { task, limits: { turns: 1, seconds: 1 } } as Parameters<typeof taskEnvironment>[0]
    const named = [...page.matchAll(/^\| `(RALPH_\w+)` \|/gm)].map((match) => match[1])
    expect(named).toEqual(Object.keys(taskEnvironment(request)))
  })

  it('runs the script of a task as it says', async () => {
    const [, script = ''] = /## Script\n\n```sh\n([\s\S]*?)```/.exec(page) ?? []
    const cwd = repository({ 'T-001': script.trimEnd() })
    const { code } = await by(cwd, 'run', '--agent', 'script', '--baseline', 'off')
    expect(code).toBe(0)
    expect(git(cwd, 'show', 'HEAD:greeting.txt')).toBe('Hello from attempt 1 at T-001')
  })
})
