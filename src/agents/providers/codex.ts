import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import path from 'node:path'
import { FOLDER, type AgentRequest, type Provider } from '../port.ts'
import { CodexReader } from './codex-stream.ts'
import { neverSetUp } from './first-start.ts'
import { openingPrompt, option } from './request.ts'
import { strictSchema } from './strict-schema.ts'

/** Its name, and what a person does about a missing login. */
const CODEX = { agent: 'Codex', login: 'run `codex login`' } as const

/** Codex: https://developers.openai.com/codex */
export const codex: Provider = {
  name: 'codex',
  install: 'npm install -g @openai/codex',
  minimumVersion: '0.169.0',
  cageNeeds: (env) => ({
    hosts: [
      'api.openai.com',
      'chatgpt.com',
      '*.chatgpt.com',
      'auth.openai.com',
      ...hostsNamedIn(env['OPENAI_BASE_URL']),
    ],
    homes: [
      {
        folder: homeOf(env, '.codex', env['CODEX_HOME']),
        keeps: ['sessions', 'archived_sessions', 'log', 'auth.json'],
      },
    ],
    files: [],
    variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    keys: ['.codex/auth.json'],
  }),
  takesMcpServers: true,
  preflight(context) {
    const home = context.env['CODEX_HOME'] ?? '.codex'
    const setUp = {
      variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
      // A configuration may name another service, or keep the login in a keychain.
      files: [path.join(home, 'auth.json'), path.join(home, 'config.toml')],
    }
    return neverSetUp(CODEX, setUp, context)
  },
  invocation(request) {
    return {
      program: 'codex',
      args: [
        'exec',
        '--json',
        '--skip-git-repo-check',
        ...option('--model', request.model),
        ...mcpArgs(request),
        ...permissionArgs(request),
        ...option('--output-schema', request.answer ? `${FOLDER}/answer.json` : null),
        '-',
      ],
      env: {},
      stdin: request.prompt,
      files: request.answer ? { 'answer.json': JSON.stringify(strictSchema(request.answer.schema)) } : {},
    }
  },
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    const args = [...option('--model', request.model), ...mcpArgs(request)]
    const which = session === 'last' ? '--last' : session === 'new' ? text : session.id
    return {
      program: 'codex',
      args: session === 'new' ? [...args, '--', which] : ['resume', ...args, which],
      env: {},
      files,
    }
  },
  reader: (request, now) => new CodexReader({ ...CODEX, now }, request),
}

const UNSANDBOXED = ['--dangerously-bypass-approvals-and-sandbox']

function permissionArgs({ permission }: AgentRequest): readonly string[] {
  switch (permission.level) {
    case 'read': {
      const web = `web_search="${permission.web ? 'live' : 'disabled'}"`
      return [...(permission.isCaged ? UNSANDBOXED : ['--sandbox', 'read-only']), '-c', web]
    }
    case 'edit':
      // Its sandbox has no network and keeps .git read-only, so commits and pushes fail.
      return permission.isCaged ? UNSANDBOXED : ['--sandbox', 'workspace-write']
    case 'full':
      return UNSANDBOXED
    case 'custom':
      return permission.args
  }
}

function mcpArgs(request: AgentRequest): readonly string[] {
  return Object.entries(request.mcpServers).flatMap(([name, server]) => {
    const env = Object.entries(server.env).map(([key, value]) => `${quote(key)}=${quote(value)}`)
    const fields = [
      `command=${quote(server.command)}`,
      `args=[${server.args.map(quote).join(',')}]`,
      `env={${env.join(',')}}`,
      // Otherwise each call waits for an approval that nobody can give, and fails.
      'default_tools_approval_mode="approve"',
      ...(server.toolSeconds === undefined ? [] : [`tool_timeout_sec=${server.toolSeconds}`]),
    ]
    // Keys on the command line cannot be quoted: a dot in the name would begin another table.
    return ['-c', `mcp_servers.${name.replace(/[^\w-]/g, '_')}={${fields.join(',')}}`]
  })
}

/** A TOML string, with the escapes of JSON. */
function quote(value: string): string {
  return JSON.stringify(value)
}
