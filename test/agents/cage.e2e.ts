import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { NO_NEEDS } from '../../src/base/cage-needs.ts'
import { agentNamed } from '../../src/agents/registry.ts'
import { agentPolicy } from '../../src/process/cage/rules.ts'
import { cagedStart } from '../../src/process/cage/start.ts'
import type { StartProcess } from '../../src/process/start.ts'
import { CONNECTIONS, PROCESSES, READS, WRITES, type Attack } from '../cage/attacks.ts'
import { available } from '../cage/here.ts'
import { drive, type Place } from './drive.ts'
import type { AgentName } from './installed.ts'
import { inTurn, say, shell } from './model.ts'

const programs = inject('programs')
const AGENTS = (['claude', 'codex', 'gemini', 'opencode'] as const).filter((name) => name in programs)

/** Of the home: what a key would be, and what a start would run. */
const HOME: Readonly<Record<string, string>> = {
  '.bashrc': 'mine\n',
  '.ssh/id_rsa': 'SECRET\n',
  '.aws/credentials': 'SECRET\n',
  '.gnupg/secring': 'SECRET\n',
  '.config/gh/hosts.yml': 'SECRET\n',
  '.netrc': 'SECRET\n',
  '.git-credentials': 'SECRET\n',
  '.mozilla/cookies': 'SECRET\n',
  '.npmrc': '//registry/:_authToken=SECRET\n',
  '.cache/ralph/agent-other/prompt': 'SECRET\n',
}

function furnish({ cwd, home }: Place): void {
  for (const [name, text] of Object.entries(HOME)) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true })
    writeFileSync(path.join(home, name), text)
  }
  writeFileSync(path.join(cwd, '.env'), 'KEY=SECRET\n')
  writeFileSync(path.join(cwd, 'attacks.sh'), script([...WRITES, ...READS, ...CONNECTIONS, ...PROCESSES]))
}

/** One after the other, each by itself, whatever comes of it; what they print is kept beside. */
function script(attacks: readonly Attack[]): string {
  const safe = attacks.filter(
    ({ command }) => !/mknod|mv \.git |AUTH_SOCK|SESSION_BUS|printenv|environ/.test(command),
  )
  const lines = safe.map(({ command }) => `( ${command} ) </dev/null 2>&1\n`)
  return `export R=${process.pid} T=1 S=/nowhere\n{\n${lines.join('')}} | tee attacks.log\n`
}

async function caged(name: AgentName, { cwd, home, url, env }: Place, folder: string): Promise<StartProcess> {
  if (!available.ok) throw new Error('there is no cage here')
  const { cageNeeds } = await agentNamed(name).load(null)
  const place = {
    top: cwd,
    root: cwd,
    checkout: '/nowhere',
    borrowed: [],
    tracked: [],
  }
  // The agent itself may be installed where a cage has folders of its own.
  const read = [path.join(folder, '../..')]
  const settings = { write: [], denyRead: [], gatesNetwork: [], copy: [], read, network: [new URL(url).host] }
  const needs = cageNeeds?.({ ...env, HOME: home }) ?? NO_NEEDS
  return cagedStart(available.program, (asked) => agentPolicy({ place, settings, env }, needs, asked))
}

describe.skipIf(!available.ok).each(AGENTS)('%s in a cage', (name) => {
  const folder = programs[name]!
  const start = (at: Place): Promise<StartProcess> => caged(name, at, folder)
  const request = { permission: { level: 'full' as const } }

  test('does an honest task', async () => {
    const { outcome, git } = await drive({
      name,
      programs: folder,
      start,
      request,
      model: (cwd) =>
        inTurn(
          { kind: 'call', call: { tool: 'write', path: path.join(cwd, 'hello.txt'), content: 'hello' } },
          shell('cat hello.txt && git status --short && mktemp && node -p 1+1 > two.txt'),
          say('Made it. <TASK_DONE>'),
        ),
      after: ({ cwd }) => expect(readFileSync(path.join(cwd, 'two.txt'), 'utf8')).toBe('2\n'),
    })
    expect(outcome.end).toEqual({ kind: 'done' })
    expect(git('status')).toContain('hello.txt')
  })

  test('is refused all that is tried', async () => {
    let seen = ''
    let before = ''
    const { outcome, events } = await drive({
      name,
      programs: folder,
      start,
      request,
      limits: { seconds: 200, stallSeconds: 200 },
      before(at) {
        furnish(at)
        before = readFileSync(path.join(at.cwd, '.git/config'), 'utf8')
      },
      model: () => inTurn(shell('sh attacks.sh'), say('Tried it. <TASK_DONE>')),
      after({ cwd, home }) {
        seen = readFileSync(path.join(cwd, 'attacks.log'), 'utf8')
        for (const [file, text] of Object.entries(HOME))
          expect(readFileSync(path.join(home, file), 'utf8')).toBe(text)
        expect(readFileSync(path.join(cwd, '.git/config'), 'utf8')).toBe(before)
      },
    })
    expect(seen.length).toBeGreaterThan(1000)
    expect(seen).not.toMatch(/SECRET|REACHED/)
    expect(outcome.end).toEqual({ kind: 'done' })
    const targets = events.flatMap((event) => (event.type === 'caged' ? [event.action.target] : []))
    expect(targets).toContain('example.com:443')
    expect(targets).toContain('~/.bashrc')
  })
})
