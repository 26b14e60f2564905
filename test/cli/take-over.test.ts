import { tmpdir } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { everybodyLeaves, sitAt } from './person.ts'
import { env, git, makeRepository, taskText } from '../repository.ts'

/** Plays an agent: alone it works until it is ended; at a terminal it does what it is told. */
const AGENT = `#!/bin/sh
if [ -z "$RALPH_PROMPT_FILE" ]; then
  cat >prompt-of-agent; echo alone >agent.txt; echo working; sleep 60; exit 1
fi
trap 'echo interrupted' INT
trap 'echo "size $(stty size)"' WINCH
echo "hand on $([ -t 0 ] && echo keys), prompt has $(grep -c Description "$RALPH_PROMPT_FILE")"
while printf '> '; do
  if read -r verb word; then case $verb in
    write) echo "$word" >>hand.txt; echo wrote;;
    other) printf '\\033[?1049h\\033[2J\\033[Hthe other screen';;
    leave) exit "\${word:-0}";;
  esac; fi
done
`

afterEach(everybodyLeaves)

function project(config: object = {}): string {
  return makeRepository({
    'docs/tasks/T-001.md': taskText('T-001', 'Say hello'),
    'agent.sh': AGENT,
    'ralph.config.json': JSON.stringify({
      agent: 'command',
      command: 'sh ./agent.sh',
      commit: { seal: false },
      baseline: 'off',
      gates: [{ name: 'hello', command: 'grep -q hello hand.txt' }],
      ...config,
    }),
  })
}

/** The program that is built, at work on the task. */
const sitDown = (cwd: string, args: readonly string[]): ReturnType<typeof sitAt> =>
  sitAt(['run', 'T-001', ...args], { cwd, env: { ...env, HOME: tmpdir() } })

describe.skipIf(process.platform === 'win32')('a task that a person does by hand', () => {
  it('is theirs at the terminal, and ralph judges and commits it', async () => {
    const cwd = project()
    const { type, sees, screen, endsWith } = await sitDown(cwd, ['--interactive'])
    await sees('hand on keys, prompt has 1')
    type('\u0003')
    await sees('interrupted')
    // It leaves the terminal changed.
    type('other\r')
    await sees('the other screen')
    type('write hello\r')
    await sees('wrote')
    type('leave\r')
    await endsWith(0)
    expect(git(cwd, 'log', '-1', '--format=%s %(trailers:key=Agent,separator=)')).toBe(
      'T-001: Say hello Agent: command, by hand',
    )
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    const lines = (await screen.allLines()).join('\n')
    expect(lines).toMatch(/by hand: agent says done[^]*✓ hello[^]*1 done/)
    expect(await screen.isAlternate()).toBe(false)
  })

  it('is gone back to where it does not pass, or left with a record', async () => {
    const cwd = project()
    const { type, sees, endsWith } = await sitDown(cwd, ['--interactive'])
    await sees('prompt has')
    type('write bye\r')
    await sees('wrote')
    type('leave\r')
    await sees('go back in')
    type('1\r')
    await sees('> ')
    type('leave 7\r')
    await sees('exited with code 7')
    type('2\r')
    await endsWith(1)
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('Begin')
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect(git(cwd, 'show', 'refs/ralph/attempts/T-001/2:hand.txt')).toBe('bye')
  })
})

describe.skipIf(process.platform === 'win32')('taking over', () => {
  it('ends the agent, keeps what it has done, and goes on in the same tree', async () => {
    const cwd = project()
    const { type, sees, endsWith } = await sitDown(cwd, [])
    await sees('working')
    type('i')
    await sees('hand on keys')
    type('write hello\r')
    await sees('wrote')
    type('leave\r')
    await endsWith(0)
    expect(git(cwd, 'show', '--format=', '--name-only', 'HEAD').split('\n').sort()).toEqual([
      'agent.txt',
      'docs/tasks/T-001.md',
      'hand.txt',
      'prompt-of-agent',
    ])
    expect(git(cwd, 'show', 'refs/ralph/attempts/T-001/1:agent.txt')).toBe('alone')
  })

  it('that is killed with ralph loses nothing: the next run has a record of it', async () => {
    const cwd = project()
    const { type, sees, running } = await sitDown(cwd, ['--interactive'])
    await sees('prompt has')
    type('write kept\r')
    await sees('wrote')
    process.kill(running.pid!, 'SIGKILL')
    await running.finished
    const next = await sitDown(cwd, ['--interactive'])
    await next.sees('prompt has')
    expect(git(cwd, 'show', 'refs/ralph/attempts/T-001/1:hand.txt')).toBe('kept')
    next.type('write hello\r')
    await next.sees('wrote')
    next.type('leave\r')
    await next.endsWith(0)
    expect(git(cwd, 'show', 'HEAD:hand.txt')).toBe('hello')
  })

  it('ends with the run that is stopped while somebody is with it', async () => {
    const cwd = project()
    const { type, sees, running, endsWith } = await sitDown(cwd, ['--interactive'])
    await sees('prompt has')
    type('write kept\r')
    await sees('wrote')
    process.kill(running.pid!, 'SIGTERM')
    await endsWith(130)
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect(git(cwd, 'show', 'refs/ralph/attempts/T-001/1:hand.txt')).toBe('kept')
  })
})
