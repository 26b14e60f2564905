import { homeOf } from '../../base/cage-needs.ts'
import type { AgentRequest, Exit, StreamEnd, StreamEvent } from '../port.ts'
import { cliAgent, hasMcpServers, option, levelArgs, mayReadWeb } from './request.ts'
import type { ProviderFailure } from './failure.ts'
import { parseLine, text, JsonReader, type Handlers, type Json } from './json-reader.ts'

/** Continue: https://docs.continue.dev/guides/cli */
export const continueCli = cliAgent({
  name: 'continue',
  agent: 'Continue',
  login: 'run `cn login`, or give a model in ~/.continue/config.yaml',
  setUp: {
    variables: ['CONTINUE_API_KEY', 'ANTHROPIC_API_KEY', 'CONTINUE_GLOBAL_DIR'],
    files: ['.continue'],
  },
  install: 'npm install -g @continuedev/cli',
  minimumVersion: '1.5.47',
  silent: true,
  alwaysReads: (file) => /(?:^|\/)\.continue\//i.test(file),
  cageNeeds: (env) => ({
    hosts: ['api.continue.dev', 'hub.continue.dev', 'api.anthropic.com', 'api.openai.com'],
    homes: [{ folder: homeOf(env, '.continue', env['CONTINUE_GLOBAL_DIR']), keeps: ['sessions', 'logs'] }],
    files: [],
    variables: 'all',
    keys: ['.continue/auth.json', '.continue/.env'],
  }),
  program: 'cn',
  start: (request) => ({
    args: [
      '--format=json',
      ...option('--model', request.model),
      ...permissionArgs(request),
      // Last: it takes what follows as the prompt, and then does not read stdin.
      '-p',
    ],
  }),
  // It reports no session id, and can only resume the last session.
  drive: (request, session, prompt) => ({
    args: [...option('--model', request.model), ...(session === 'new' ? ['--', prompt] : ['--resume'])],
  }),
  reader: (words, request) => new ContinueReader(words, request),
})

function permissionArgs(request: AgentRequest): readonly string[] {
  return levelArgs(request, {
    read: ['--readonly', ...(mayReadWeb(request) ? [] : ['--exclude', 'Fetch'])],
    // A command that it may not run silently ends the whole session, so it gets no tool for commands.
    edit: [
      ...['Write', 'Edit', 'MultiEdit'].flatMap((tool) => ['--allow', tool]),
      ...['Bash', 'Fetch'].flatMap((tool) => ['--exclude', tool]),
    ],
    full: ['--auto'],
  })
}

/** Reads `cn -p --format json`: one object at the end, and nothing before it. */
class ContinueReader extends JsonReader {
  protected readonly on: Handlers = {}

  protected override event(event: Json): readonly StreamEvent[] {
    const { response, status } = event
    // It reports a shortened context in the same shape, without an answer.
    if (typeof response !== 'string' && status !== 'error') return []
    this.message = text(response)
    this.isComplete = true
    this.failure = failureIn(event)
    const message =
      'Continue takes MCP servers from its own configuration only: those of ralph were not there.'
    return [
      ...(hasMcpServers(this.request) ? [{ type: 'warning', message } as const] : []),
      { type: 'result' },
    ]
  }

  protected override ended(exit: Exit): StreamEnd['end'] {
    if (this.isComplete && !this.failure) return { kind: 'finished' }
    // Errors have the same shape, but are on stderr.
    const errors = exit.stderr.split(/\r?\n/).flatMap((line) => failureIn(parseLine(line)) ?? [])
    return this.failed(exit, this.failure ?? errors[0])
  }
}

function failureIn(event: Json | null): ProviderFailure | null {
  return event?.['status'] === 'error' ? { message: text(event['message']) || text(event['response']) } : null
}
