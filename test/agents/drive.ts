import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startProcess, type StartProcess } from '../../src/process/start.ts'
import type { AgentEvent, AgentRequest } from '../../src/agents/port.ts'
import { agentNamed } from '../../src/agents/registry.ts'
import { createAgent } from '../../src/agents/runtime.ts'
import { startFakeModelApi } from './fake-model-api.ts'
import { environment } from './home.ts'
import type { AgentName } from './installed.ts'
import type { Model } from './model.ts'
import { requestOf } from '../agent/requests.ts'

export interface Situation {
  readonly name: AgentName
  readonly programs: string
  /** The model may want to name files of the repository. */
  readonly model: (cwd: string) => Model
  readonly request?: Partial<AgentRequest>
  readonly limits?: Partial<AgentRequest['limits']>
  /** What it is asked next, in the same conversation. */
  readonly next?: string
  /** How its process is started; without it as any. */
  readonly start?: (at: Place) => Promise<StartProcess>
  /** What is there before, and what is looked at afterwards. */
  readonly before?: (at: Place) => void
  readonly after?: (at: Place) => void
}

/** Where a drive takes place. */
export interface Place {
  readonly cwd: string
  readonly home: string
  readonly url: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs a real agent in a repository of its own against a scripted model. */
export async function drive({ name, programs, model, request, limits, ...more }: Situation) {
  const folder = mkdtempSync(path.join(tmpdir(), `ralph-${name}-`))
  const [cwd, home] = [path.join(folder, 'repository'), path.join(folder, 'home')]
  for (const made of [home, path.join(folder, 'notes')]) mkdirSync(made)
  const git = repository(cwd)
  const api = await startFakeModelApi(model(cwd))
  const at = { cwd, home, url: api.url, env: environment(name, api.url, home, programs) }
  try {
    more.before?.(at)
    const agent = createAgent(await agentNamed(name).load(null), {
      start: (await more.start?.(at)) ?? startProcess,
      now: () => new Date(),
    })
    const events: AgentEvent[] = []
    const asked = requestOf({
      prompt: 'Do the task.',
      cwd,
      env: at.env,
      model: name === 'gemini' ? 'gemini-3.1-pro-preview' : null,
      limits: { turns: 20, seconds: 90, stallSeconds: 60, budgetUsd: null, tokens: null, ...limits },
      gateCommands: ['npm test'],
      task: { ...requestOf().task, id: 'T-001', notesFile: path.join(folder, 'notes', 'notes.md') },
      ...request,
    })
    const first = await agent.run(asked, (event) => events.push(event))
    const next = {
      ...asked,
      prompt: more.next ?? '',
      resume: { session: first.sessionId ?? '', used: first.usage },
    }
    const outcome = more.next === undefined ? first : await agent.run(next, (event) => events.push(event))
    more.after?.(at)
    // What a test asks of the repository, it asks while it is there.
    const answers = new Map([
      ['log', git('log', '--format=%s')],
      ['status', git('status', '--short')],
    ])
    return { outcome, events, bodies: api.bodies, git: (what: string) => answers.get(what)! }
  } finally {
    await api[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function repository(cwd: string) {
  mkdirSync(cwd)
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim()
  git('init', '-q', '-b', 'main')
  writeFileSync(path.join(cwd, 'README.md'), '# A project\n')
  git('add', '.')
  git('-c', 'user.name=team', '-c', 'user.email=team@example.com', 'commit', '-qm', 'Begin')
  return git
}
