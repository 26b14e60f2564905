import path from 'node:path'
import type { AgentRequest, Provider } from '../port.ts'
import { list, parseLine, record, type Json } from './json-lines.ts'
import { OpencodeReader } from './opencode-stream.ts'
import { option } from './request.ts'
import { allowedCommands, RESERVED_COMMANDS } from './shell-rules.ts'

/** OpenCode: https://opencode.ai/docs/cli */
export const opencode: Provider = {
  name: 'opencode',
  install: 'npm install -g opencode-ai',
  minimumVersion: '1.18.33',
  tellsCost: true,
  // It has models that need no login, and its keys may stand in many places: only its own word tells.
  preflight: () => [],
  invocation(request) {
    return {
      program: 'opencode',
      // Only its log tells that its service refuses it: for that it waits without a word in its stream.
      args: [
        'run',
        '--format=json',
        '--print-logs',
        '--log-level=ERROR',
        ...option('--model', request.model),
        ...permissionArgs(request),
      ],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config(request)),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        // An agent could have written the repository's own configuration, and its servers would be started.
        ...(request.permission.level === 'custom' ? {} : { OPENCODE_DISABLE_PROJECT_CONFIG: '1' }),
      },
      stdin: request.prompt,
      files: {},
    }
  },
  reader: (request, now) => new OpencodeReader(request, now),
}

function permissionArgs({ permission }: AgentRequest): readonly string[] {
  switch (permission.level) {
    case 'read':
      return ['--agent', 'plan']
    case 'edit':
      return []
    case 'full':
      return ['--auto']
    case 'custom':
      return permission.args
  }
}

/** Laid over the person's own configuration, and over what they give in the same variable. */
function config(request: AgentRequest): Json {
  const own = parseLine(request.env['OPENCODE_CONFIG_CONTENT'] ?? '') ?? {}
  const servers = Object.entries(request.mcpServers).map(([name, server]) => [
    name,
    { type: 'local', command: [server.command, ...server.args], environment: server.env, enabled: true },
  ])
  return {
    ...own,
    mcp: { ...record(own['mcp']), ...Object.fromEntries(servers) },
    ...(request.permission.level === 'custom'
      ? {}
      : {
          permission: permissions(request),
          // Without the repository's configuration it would not read these either.
          instructions: [...list(own['instructions']), path.join(request.cwd, 'AGENTS.md')],
        }),
  }
}

/** What stands for more than itself in its rules. */
const WILDCARDS = /[*?]/

const READING = ['read', 'glob', 'grep', 'list', 'lsp', 'todowrite', 'todoread']

/** The last rule that matches decides. */
function permissions(request: AgentRequest): Json {
  const reserved = RESERVED_COMMANDS.map((command) => [`${command}*`, 'deny'])
  if (request.permission.level === 'full') {
    return { '*': 'allow', bash: Object.fromEntries([['*', 'allow'], ...reserved]) }
  }
  if (request.permission.level === 'read') {
    const reading = [...READING, ...(request.permission.web ? ['webfetch', 'websearch'] : [])]
    return {
      '*': 'deny',
      ...Object.fromEntries(reading.map((name) => [name, 'allow'])),
      external_directory: 'deny',
    }
  }
  const tools = ['read', 'edit', 'glob', 'grep', 'list', 'lsp', 'skill', 'task', 'todowrite', 'todoread']
  const servers = Object.keys(request.mcpServers).map((name) => `${name}_*`)
  return {
    '*': 'deny',
    ...Object.fromEntries([...tools, ...servers].map((name) => [name, 'allow'])),
    external_directory: 'deny',
    bash: Object.fromEntries([
      ['*', 'deny'],
      ...allowedCommands(request, WILDCARDS).map((command) => [command, 'allow']),
      ...reserved,
    ]),
  }
}
