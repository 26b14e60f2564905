import { homeOf } from '../../base/cage-needs.ts'
import type { AgentRequest, Exit, Provider, StreamEnd, StreamReader } from '../port.ts'
import { neverSetUp, hasMcpServers, openingPrompt, option, levelArgs, mayReadWeb } from './request.ts'
import { parseLine, text, JsonReader, type Json } from './json-reader.ts'
import type { Usage } from '../../base/nouns.ts'
import { UNKNOWN_USAGE } from '../../base/usage.ts'

const CONTINUE = {
  agent: 'Continue',
  login: 'run `cn login`, or give a model in ~/.continue/config.yaml',
} as const

const SET_UP = {
  variables: ['CONTINUE_API_KEY', 'ANTHROPIC_API_KEY', 'CONTINUE_GLOBAL_DIR'],
  files: ['.continue'],
}

/** Continue: https://docs.continue.dev/guides/cli */
export const continueCli: Provider = {
  name: 'continue',
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
  preflight: (context) => neverSetUp(CONTINUE, SET_UP, context),
  invocation(request) {
    return {
      program: 'cn',
      args: [
        '--format=json',
        ...option('--model', request.model),
        ...permissionArgs(request),
        // Last: it takes what follows as the prompt, and then does not read stdin.
        '-p',
      ],
      env: {},
      stdin: request.prompt,
      files: {},
    }
  },
  // It reports no session id, and can only resume the last session.
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    const which = session === 'new' ? ['--', text] : ['--resume']
    return { program: 'cn', args: [...option('--model', request.model), ...which], env: {}, files }
  },
  reader: (request, now) => new ContinueReader({ ...CONTINUE, now }, request),
}

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
  #result: Json | null = null

  protected event(event: Json): ReturnType<StreamReader['line']> {
    // It reports a shortened context in the same shape, without an answer.
    if (typeof event['response'] !== 'string' && event['status'] !== 'error') return []
    this.#result = event
    const message =
      'Continue takes MCP servers from its own configuration only: those of ralph were not there.'
    return [
      ...(hasMcpServers(this.request) ? [{ type: 'warning', message } as const] : []),
      { type: 'result' },
    ]
  }

  end(exit: Exit): StreamEnd {
    return {
      end: this.#end(exit),
      finalMessage: text(this.#result?.['response']),
      usage: this.usage(),
      denied: [],
    }
  }

  protected usage(): Usage {
    return UNKNOWN_USAGE
  }

  #end(exit: Exit): StreamEnd['end'] {
    // Errors have the same shape, but are on stderr.
    const error = exit.stderr
      .split(/\r?\n/)
      .map(parseLine)
      .find((line) => line?.['status'] === 'error')
    const json = this.#result ?? error ?? null
    if (json && json['status'] !== 'error') return { kind: 'finished' }
    return this.failed(exit, json && { message: text(json['message']) || text(json['response']) })
  }
}
