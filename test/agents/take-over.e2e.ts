import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { everybodyLeaves, sitAt } from '../cli/person.ts'
import { slotsFolder } from '../../src/cli/setup/slots.ts'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { git, makeRepository } from '../repository.ts'
import { startFakeModelApi } from './fake-model-api.ts'
import { environment, makeHome } from './home.ts'
import type { AgentName } from './installed.ts'
import { say, type Model } from './model.ts'

const programs = inject('programs')

let home: string
beforeEach(() => {
  home = makeHome()
})
afterEach(everybodyLeaves)

/** How a person finds the program of an agent. */
interface Wheel {
  /** As a person's home is who has used it in that folder before. */
  readonly setUp: (root: string) => void
  /** Its model; null for the usual one. Without a model gemini first asks another one which to take. */
  readonly model: string | null
  /** What ralph shows once it has written the file. */
  readonly wrote: string
  /** What stands on its screen once it takes words. */
  readonly ready: string
  /** What is typed to leave it, and what it then shows that takes one more key; null if one is enough. */
  readonly leave: { readonly typed: string; readonly sure: readonly [shown: string, typed: string] | null }
}

const CTRL_C = '\u0003'
/** The agents are large programs: one may begin slowly on a machine that has much else to do. */
const PATIENCE_MS = 60_000

const WHEELS = {
  claude: {
    setUp: knownToClaude,
    model: null,
    wrote: 'agent.txt',
    ready: 'shift+tab',
    leave: { typed: CTRL_C, sure: ['again to exit', CTRL_C] },
  },
  codex: {
    setUp: knownToCodex,
    model: null,
    wrote: 'shell printf',
    ready: 'Ask Codex to do anything',
    // A Ctrl-C that comes before its turn is over only ends the turn.
    leave: { typed: '/quit', sure: ['/quit', '\r'] },
  },
  gemini: {
    setUp: knownToGemini,
    model: 'gemini-3.1-pro-preview',
    wrote: 'agent.txt',
    ready: 'Type your message',
    leave: { typed: CTRL_C, sure: ['again to', CTRL_C] },
  },
  opencode: {
    setUp: () => undefined,
    model: null,
    wrote: 'agent.txt',
    ready: 'ctrl+p',
    leave: { typed: CTRL_C, sure: null },
  },
} satisfies Partial<Record<AgentName, Wheel>>

function knownToClaude(root: string): void {
  const known = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  const settings = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['dummy'], rejected: [] },
    projects: { [root]: known },
  }
  writeFileSync(path.join(home, '.claude.json'), JSON.stringify(settings))
}

function knownToCodex(root: string): void {
  appendFileSync(
    path.join(home, '.codex/config.toml'),
    `[projects.${JSON.stringify(root)}]\ntrust_level = "trusted"\n`,
  )
}

function knownToGemini(root: string): void {
  writeFileSync(path.join(home, '.gemini/trustedFolders.json'), JSON.stringify({ [root]: 'TRUST_FOLDER' }))
}

test.for(Object.entries(WHEELS) as [keyof typeof WHEELS, Wheel][])(
  'a task of the real %s is taken over in its session, at a terminal that changes its size',
  async ([name, { setUp, model: chosen, wrote, ready, leave }], { skip }) => {
    const program = programs[name]
    if (program === undefined) return skip()
    const root = makeRepository({
      'docs/tasks/T-001.md': '# T-001: Write a file\n\n- **Status**: TODO\n\n## Description\nWrite it.\n',
      'ralph.config.json': JSON.stringify({
        agent: name,
        ...(chosen !== null && { model: chosen }),
        gates: [{ name: 'files', command: 'ls agent.txt' }],
        commit: { seal: false },
        baseline: 'off',
      }),
    })
    const bodies: string[] = []
    const model: Model = ({ results, isTurn, body }) => {
      if (!isTurn) return say('A title')
      bodies.push(body)
      if (body.includes('Say how you are')) return say('FINE, THANK YOU')
      if (results > 0) return { kind: 'hang' }
      return { kind: 'call', call: { tool: 'write', path: 'agent.txt', content: 'hello\n' } }
    }
    await using api = await startFakeModelApi(model)
    const env = { ...environment(name, api.url, home, program), RALPH_SANDBOX: 'off' }
    const slots = slotsFolder({ root, config: DEFAULTS }, root, env)
    const folder = path.join(slots, '1/work', path.basename(root))
    setUp(folder)
    const { type, sees, shows, pty, screen, running } = await sitAt(['run', 'T-001'], {
      cwd: root,
      env,
      patienceMs: PATIENCE_MS,
    })
    await expect.poll(() => existsSync(path.join(folder, 'agent.txt')), { timeout: PATIENCE_MS }).toBe(true)
    // Its session is known once it has said something.
    await shows(wrote)
    type('i')
    await sees(`you control ${name}, in its session`)
    await shows(ready)
    await screen.resize(70, 20)
    pty.resize({ columns: 70, rows: 20 })
    // Without a question mark, which gemini takes for its key for help where it has not drawn the words before it.
    type('Say how you are')
    await shows('Say how you are')
    type('\r')
    await shows('FINE, THANK YOU')
    type(leave.typed)
    if (leave.sure !== null) {
      const [shown, typed] = leave.sure
      await shows(shown)
      type(typed)
    }
    expect(await running.finished).toMatchObject({ code: 0 })
    // The same conversation: what the agent alone was asked stands before what the person said.
    expect(bodies.at(-1)).toMatch(/T-001[^]*agent\.txt[^]*Say how you are/)
    expect(git(root, 'log', '-1', '--format=%B')).toMatch(
      new RegExp(`^T-001: Write a file[^]*Agent: ${name} .*, by hand`),
    )
    expect(readFileSync(path.join(root, 'agent.txt'), 'utf8')).toBe('hello\n')
    expect(git(root, 'status', '--short')).toBe('')
  },
)
