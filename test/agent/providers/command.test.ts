import { writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AgentRequest } from '../../../src/agents/port.ts'
import { commandProvider } from '../../../src/agents/providers/command.ts'
import { requestOf, runOf } from '../requests.ts'
import { makeFolder } from '../../repository.ts'

const cwd = makeFolder()

const run = (command: string, changes: Partial<AgentRequest> = {}) =>
  runOf(commandProvider(command), { cwd, ...changes })

describe.skipIf(process.platform === 'win32')('the command agent at a terminal', () => {
  const atTerminal = async (command: string, changes: Partial<AgentRequest> = {}) => {
    const logged: Buffer[] = []
    const log: AgentRequest['log'] = (chunk) => void logged.push(Buffer.from(chunk))
    const heard = await runOf(
      commandProvider(command, true),
      { cwd, log, ...changes },
      { killAfterSeconds: 1 },
    )
    const texts = heard.events.flatMap((event) => (event.type === 'text' ? [event.text] : []))
    return { ...heard, texts, logged: Buffer.concat(logged).toString() }
  }

  test('prints its colours into the log, and its words to whoever reads along', async () => {
    const { outcome, texts, logged } = await atTerminal(
      '[ -t 1 ] && [ -t 2 ] && printf "\\033[31mred\\033[0m on $TERM\\n"; cat; echo; echo "<TASK_DONE>"',
    )
    expect(outcome).toMatchObject({ end: { kind: 'done' }, finalMessage: 'red on xterm-256color\nDo it.' })
    expect(texts.slice(0, 2)).toEqual(['red on xterm-256color', 'Do it.'])
    expect(logged).toContain('\u001b[31mred\u001b[0m on xterm-256color\r\n')
  })

  test('has of a progress bar the last, and its marker counts', async () => {
    const { outcome, texts } = await atTerminal(
      'for n in 1 50 100; do printf "\\r\\033[K%3d %%" $n; done; echo; echo "<TASK_DONE>"',
    )
    expect([outcome.end.kind, outcome.finalMessage, texts[0]]).toEqual(['done', '100 %', '100 %'])
  })

  test('that asks is heard before its line ends, and once', async () => {
    const { texts } = await atTerminal('printf "Go on? [y/N] "; sleep 1.2; echo; echo "<TASK_DONE>"')
    expect(texts).toEqual(['Go on? [y/N] ', '<TASK_DONE>'])
  })

  test('is ended whole, and says why it cannot begin', async () => {
    const slow = await atTerminal("trap '' HUP TERM; sleep 60", {
      limits: { turns: 1, seconds: 0.3, stallSeconds: 60, budgetUsd: null, tokens: null },
    })
    expect(slow.outcome.end.kind).toBe('timeout')
    const never = await atTerminal('./not-there')
    expect(never.outcome.end).toMatchObject({ kind: 'refused', hopeless: 'agent' })
    const failing = await atTerminal('echo "no disk" >&2; exit 4')
    expect(failing.outcome.end).toMatchObject({ reason: 'the command exited with code 4: no disk' })
  })
})

describe.skipIf(process.platform === 'win32')('the command agent', () => {
  test('works in the repository, with the prompt and the task at hand', async () => {
    const { outcome } = await run(
      'pwd; cat; echo; echo $RALPH_TASK $RALPH_TASK_FILE $RALPH_ATTEMPT $RALPH_MAX_TURNS $RALPH_TIMEOUT $RALPH_NOTES_FILE; echo "<TASK_DONE>"',
    )
    expect(outcome).toMatchObject({
      end: { kind: 'done' },
      finalMessage: `${cwd}\nDo it.\nT-004 docs/tasks/T-004.md 1 50 600 no-notes`,
    })
  })

  test.each([
    ['as the last line', 'echo x; echo "<TASK_DONE>"; echo', 'done'],
    ['not before another line', 'echo "<TASK_DONE>"; echo x', 'no-marker'],
    ['not within a line', 'echo "all ready <TASK_DONE>"', 'no-marker'],
    ['not on stderr', 'echo "<TASK_DONE>" >&2', 'no-marker'],
    ['not from a program that fails', 'echo "<TASK_DONE>"; exit 3', 'crashed'],
    ['not from a program that is killed', 'echo "<TASK_DONE>"; kill -9 $$', 'crashed'],
    ['as blocked also from one that fails', `echo '<TASK_BLOCKED reason="no key">'; exit 1`, 'blocked'],
  ])('has a marker that counts %s', async (_, command, kind) => {
    expect((await run(command)).outcome.end.kind).toBe(kind)
  })

  describe('that the shell cannot start is refused, which no other try will change', () => {
    writeFileSync(join(cwd, 'not-executable'), '')
    writeFileSync(join(cwd, 'no-interpreter'), '#!/no/such/interpreter\n', { mode: 0o755 })
    test.each([
      './no-such-agent',
      'no-such-agent --json',
      'KEY=1 ./no-such-agent',
      '"./no such agent" < /dev/null',
      'exec ./no-such-agent',
      './not-executable',
      './no-interpreter',
    ])('%s', async (command) => {
      expect((await run(command)).outcome.end).toEqual({
        kind: 'refused',
        reason: expect.stringMatching(
          /^The agent "command" cannot begin \(.*(?:agent|not-executable|no-interpreter): .+\): set `command` in the config, or give --command; ralph doctor says whether the sandbox hides it\.$/,
        ),
        hopeless: 'agent',
      })
    })
  })

  describe('that may have worked before it failed in the same way is tried again', () => {
    writeFileSync(join(cwd, 'works'), '#!/bin/sh\ntouch worked\nno-such-program\n', { mode: 0o755 })
    writeFileSync(join(cwd, 'speaks'), '#!/bin/sh\necho >&2 "ralph-command: no"\necho >&2 x\nexit 127\n', {
      mode: 0o755,
    })
    test.each([
      'touch worked; no-such-program',
      'touch worked && ./no-such-program',
      'touch worked | no-such-program',
      'no-such-program $(touch worked)',
      'no-such-program `touch worked`',
      '. ./works',
      "eval './works'",
      './works',
      './speaks',
      'sh -c "exit 127"',
      'sh ./works',
      'exit 126',
    ])('%s', async (command) => {
      expect((await run(command)).outcome.end).toEqual({
        kind: 'crashed',
        reason: expect.stringMatching(/^the command exited with code 12[67]/),
      })
    })
  })

  test('has the last 100 lines for its notes', async () => {
    const { outcome } = await run('seq 1 500; echo "<TASK_DONE>"')
    expect(outcome.finalMessage.split('\n')).toEqual(Array.from({ length: 100 }, (_, i) => String(401 + i)))
  })

  test('has what it wrote for its notes, without a marker', async () => {
    const task = { ...requestOf().task, notesFile: join(cwd, 'notes.md') }
    const command =
      'printf "## What I did\\n\\n<TASK_DONE>\\n" > "$RALPH_NOTES_FILE"; echo x; echo "<TASK_DONE>"'
    expect((await run(command, { task })).outcome.finalMessage).toBe('## What I did')
  })

  test('is not waited for where its notes are a pipe', async () => {
    const notesFile = join(cwd, 'pipe')
    spawnSync('mkfifo', [notesFile])
    const { outcome } = await run('echo x; echo "<TASK_DONE>"', { task: { ...requestOf().task, notesFile } })
    expect(outcome.finalMessage).toBe('x')
  })
})

describe.skipIf(process.platform === 'win32')('before a run the command agent', () => {
  const lacks = (command: string | null) => commandProvider(command).preflight({ env: process.env, cwd })

  test.each([null, ' '])('without a command (%j) says so', async (command) => {
    expect(await lacks(command)).toEqual([
      'The agent "command" has no command to run: set `command` in the config, or give --command.',
    ])
  })

  test.each(['./no-such-agent', 'no-such-agent --json', '/no/such/agent'])(
    'whose program is not there says so: %s',
    async (command) => {
      expect(await lacks(command)).toEqual([
        expect.stringMatching(/^The agent "command" finds no program ".*no.such.agent" to run: set .*\.$/),
      ])
    },
  )

  test.each([
    'cat',
    'exec cat',
    '/bin/sh ./agent.sh',
    'if true; then cat; fi',
    'no-such-agent || cat',
    'cd sub && ./agent.sh',
    'KEY=1 ./agent.sh',
    '"$HOME/agent.sh"',
  ])('that may be all right begins: %s', async (command) => {
    expect(await lacks(command)).toEqual([])
  })
})
