import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import { FOLDER, type AgentRequest, type Invocation, type Provider } from '../port.ts'
import { CopilotReader } from './copilot-stream.ts'
import { neverSetUp } from './first-start.ts'
import { hasMcpServers, mcpFile, openingPrompt, option, toolLimit } from './request.ts'
import { RESERVED_COMMANDS } from './shell-rules.ts'

/** Its name, and what a person does about a missing login. */
const COPILOT = { agent: 'Copilot CLI', login: 'run `copilot` and /login, or set GH_TOKEN' } as const

const SET_UP = {
  variables: [
    'COPILOT_GITHUB_TOKEN',
    'GH_TOKEN',
    'GITHUB_TOKEN',
    'COPILOT_PROVIDER_BASE_URL',
    'XDG_CONFIG_HOME',
  ],
  files: ['.copilot', '.config/gh'],
}

/** GitHub Copilot CLI: https://docs.github.com/copilot/how-tos/copilot-cli */
export const copilot: Provider = {
  name: 'copilot',
  install: 'npm install -g @github/copilot',
  minimumVersion: '1.0.102',
  cageNeeds: (env) => ({
    hosts: [
      'api.github.com',
      'github.com',
      '*.githubcopilot.com',
      ...hostsNamedIn(env['COPILOT_PROVIDER_BASE_URL']),
    ],
    homes: [{ folder: homeOf(env, '.copilot'), keeps: ['session-state', 'logs'] }],
    files: [],
    variables: [...SET_UP.variables, 'COPILOT_PROVIDER_API_KEY'],
    keys: ['.copilot', '.config/github-copilot'],
  }),
  takesMcpServers: true,
  preflight: (context) => neverSetUp(COPILOT, SET_UP, context),
  invocation(request) {
    return {
      program: 'copilot',
      args: [
        '--output-format=json',
        '--no-ask-user',
        '--no-auto-update',
        ...option('--model', request.model),
        ...option('--additional-mcp-config', hasMcpServers(request) ? `@${FOLDER}/mcp.json` : null),
        ...permissionArgs(request),
      ],
      env: {},
      stdin: request.prompt,
      files: serversFile(request),
    }
  },
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    return {
      program: 'copilot',
      args: [
        '--no-auto-update',
        ...option('--model', request.model),
        ...option('--additional-mcp-config', hasMcpServers(request) ? `@${FOLDER}/mcp.json` : null),
        ...RESERVED_COMMANDS.map(denied),
        ...option('--resume', typeof session === 'object' ? session.id : null),
        ...(session === 'last' ? ['--continue'] : []),
        ...option('--interactive', session === 'new' ? text : null),
      ],
      env: {},
      files: { ...files, ...serversFile(request) },
    }
  },
  reader: (request, now) => new CopilotReader({ ...COPILOT, now }, request),
}

function serversFile(request: AgentRequest): Invocation['files'] {
  return mcpFile(request, (server) => ({ type: 'local', tools: ['*'], ...toolLimit('timeout', server) }))
}

function denied(command: string): string {
  return `--deny-tool=shell(${command})`
}

function permissionArgs(request: AgentRequest): readonly string[] {
  switch (request.permission.level) {
    case 'read':
      return ['--deny-tool=write', '--deny-tool=shell']
    case 'edit': {
      // A rule for a command applies to all of its arguments, and commands that it considers read-only (`git log
      // --output=…`) are not checked: so it gets no shell.
      const tools = ['write', ...Object.keys(request.mcpServers)]
      return [...tools.map((tool) => `--allow-tool=${tool}`), '--deny-tool=shell']
    }
    case 'full':
      return ['--allow-all', ...RESERVED_COMMANDS.map(denied)]
    case 'custom':
      return request.permission.args
  }
}
