import { mkdtempSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { AgentRequest } from '../../../src/agent/port.ts'
import { commandProvider } from '../../../src/agent/providers/command.ts'
import { createAgent } from '../../../src/agent/runtime.ts'
import { listen, requestOf } from '../requests.ts'

const cwd = mkdtempSync(join(tmpdir(), 'ralph-command-'))
afterAll(() => rmSync(cwd, { recursive: true }))

const run = (command: string, changes: Partial<AgentRequest> = {}) =>
  listen(
    createAgent(commandProvider(command), { now: () => new Date(0) }).run(requestOf({ cwd, ...changes })),
  )

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

  test('says each line', async () => {
    const { events } = await run('printf "one\\n\\ntwo"')
    const texts = events.flatMap((event) => (event.type === 'text' ? [event.text] : []))
    expect(texts).toEqual(['one', 'two'])
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

  test('that only repeats its prompt is not done', async () => {
    const prompt = 'End with your summary and then this line:\n\n<TASK_DONE>\n'
    expect((await run('cat', { prompt })).outcome.end.kind).toBe('no-marker')
  })

  test('that fails tells how, and the last that it said', async () => {
    expect((await run('echo a; echo "no disk" >&2; exit 4')).outcome.end).toEqual({
      kind: 'crashed',
      reason: 'the command exited with code 4: no disk',
    })
    expect((await run('./no-such-agent')).outcome.end).toMatchObject({
      reason: expect.stringMatching(/code 127: .*no-such-agent.*not found/),
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

test('the command agent without a command says so before a run', () => {
  const context = { env: {}, cwd, nodeVersion: '20.19.0' }
  expect(commandProvider(null).preflight(context)).toHaveLength(1)
  expect(commandProvider(' ').preflight(context)).toHaveLength(1)
  expect(commandProvider('./agent').preflight(context)).toEqual([])
})
