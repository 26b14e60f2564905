import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import {
  FOLDER,
  type AgentRequest,
  type HandEnd,
  type Provider,
  type Session,
} from '../../src/agents/port.ts'
import { createAgent } from '../../src/agents/runtime.ts'
import { openPty, type PersonTerminal } from '../../src/process/terminal.ts'
import { startProcess } from '../../src/process/start.ts'
import { requestOf } from './requests.ts'
import { jsonProvider } from './steered-agent.ts'

/** A terminal of a person who only looks on. */
const terminal: PersonTerminal = {
  async lend({ start }) {
    const pty = await openPty({ columns: 80, rows: 24 })
    if ('problem' in pty) throw new Error(pty.problem)
    return start(pty).finished
  },
}

/** What comes of it where the interactive program is that script. */
async function drive(
  script: string,
  { session = 'new', ...changes }: Partial<AgentRequest> & { session?: Session } = {},
  program = 'sh',
): Promise<HandEnd & { readonly printed: string }> {
  let printed = ''
  const provider: Provider = {
    ...jsonProvider({ program: 'sh', args: [] }),
    interactive: (request, asked) => ({
      program,
      args: ['-c', script, 'sh', JSON.stringify(asked)],
      env: { PROMPT: `${FOLDER}/prompt.md` },
      files: { 'prompt.md': request.prompt },
    }),
  }
  const agent = createAgent(provider, { start: startProcess, now: () => new Date(0) })
  const log: AgentRequest['log'] = (chunk) => void (printed += Buffer.from(chunk).toString())
  const end = await agent.byHand!(requestOf({ cwd: tmpdir(), log, ...changes }), { session, terminal })
  return { ...end, printed }
}

describe.skipIf(process.platform === 'win32')('an agent that a person drives', () => {
  test('has a terminal, its private files, its conversation, and no limit', async () => {
    const { end, code, printed } = await drive('tty; cat "$PROMPT"; echo "$PROMPT" "$1"; sleep 0.3', {
      session: { id: 's-1' },
      limits: { turns: 0, seconds: 0.1, stallSeconds: 0.1, budgetUsd: 0, tokens: null },
    })
    expect([end, code]).toEqual([{ kind: 'done' }, 0])
    expect(printed).toMatch(/^\/dev\/.*Do it\..*\{"id":"s-1"\}/s)
    expect(existsSync(/Do it\.(\/\S+prompt\.md)/.exec(printed)![1]!)).toBe(false)
  })

  test.each([
    ['exit 0', 'done'],
    ['exit 130', 'done'],
    ['kill -INT $$', 'done'],
    ['exit 7', 'crashed'],
    ['kill -KILL $$', 'crashed'],
  ])('that is left by %s is %s', async (script, kind) => {
    expect((await drive(script)).end.kind).toBe(kind)
  })

  test('whose program is not there says how to get it', async () => {
    const { end, code } = await drive('', {}, 'ralph-no-such-program')
    expect(end).toEqual({ kind: 'crashed', reason: expect.stringContaining('to install it: ') })
    expect(code).toBeNull()
  })

  test('is ended with the run, also before it has begun', async () => {
    const stop = new AbortController()
    const printing = drive('echo here; sleep 60', {
      signal: stop.signal,
      log: () => stop.abort('interrupt'),
    })
    expect((await printing).end).toEqual({ kind: 'interrupted' })
    expect((await drive('echo here', { signal: stop.signal })).printed).toBe('')
  })
})
