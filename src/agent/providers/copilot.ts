import { FOLDER, type AgentRequest, type Provider } from '../port.ts'
import { COPILOT, CopilotReader } from './copilot-stream.ts'
import { neverSetUp } from './first-start.ts'
import { hasMcpServers, mcpFile, option } from './request.ts'
import { allowedCommands, RESERVED_COMMANDS } from './shell-rules.ts'

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
      files: mcpFile(request, { type: 'local', tools: ['*'] }),
    }
  },
  reader: (request, now) => new CopilotReader(request, now),
}

/** The programs of which it tells one sub-command from another; any other is allowed as a whole or not at all. */
const TOLD_APART = new Set(['git', 'npm', 'pnpm', 'yarn', 'cargo', 'go'])

function permissionArgs(request: AgentRequest): readonly string[] {
  const denied = RESERVED_COMMANDS.map((command) => `--deny-tool=shell(${command})`)
  switch (request.permission.level) {
    case 'edit': {
      const shell = new Set(allowedCommands(request).map(shellRule))
      const tools = ['write', ...shell, ...Object.keys(request.mcpServers)]
      return [...tools.map((tool) => `--allow-tool=${tool}`), ...denied]
    }
    case 'full':
      return ['--allow-all', ...denied]
    case 'custom':
      return request.permission.args
  }
}

function shellRule(command: string): string {
  const [program = '', subcommand = ''] = command.split(/\s+/)
  return TOLD_APART.has(program) && subcommand !== ''
    ? `shell(${program} ${subcommand})`
    : `shell(${program})`
}
