import { describe, expect, it } from 'vitest'
import { mergeMcpServers, readMcpServers } from '../../src/prompt/mcp.ts'

const fence = (json: string): string => `Some words.\n\n\`\`\`json\n${json}\n\`\`\`\n`

const BAD_SERVER =
  'server "a": expected a "command" that is a text, perhaps "args" that are a list of texts, and "env" with texts by name'

describe('the servers of a discipline', () => {
  it('are read from a fence of JSON', () => {
    const { servers, problems } = readMcpServers(
      fence(
        '{ "db": { "command": "db-mcp", "args": ["--read-only"], "env": { "URL": "x" } }, "web": { "command": "web" } }',
      ),
    )
    expect(problems).toEqual([])
    expect(servers).toEqual({
      db: { command: 'db-mcp', args: ['--read-only'], env: { URL: 'x' } },
      web: { command: 'web', args: [], env: {} },
    })
  })

  it('are read one level down too, as other tools keep them', () => {
    expect(readMcpServers(fence('{ "mcpServers": { "a": { "command": "a" } } }')).servers).toEqual({
      a: { command: 'a', args: [], env: {} },
    })
  })

  it.each([
    ['no fence', 'nothing here', 'expected the servers as a JSON object in a fence'],
    ['no JSON', fence('{ "a": }'), 'expected the servers as a JSON object in a fence'],
    ['no object', fence('[]'), 'expected the servers as a JSON object in a fence'],
    ['no server', fence('{ "a": "npx" }'), BAD_SERVER],
    ['no command', fence('{ "a": { "args": [] } }'), BAD_SERVER],
    ['wrong args', fence('{ "a": { "command": "a", "args": "b" } }'), BAD_SERVER],
    ['wrong env', fence('{ "a": { "command": "a", "env": { "B": 1 } } }'), BAD_SERVER],
  ])('say what is wrong with %s', (_, section, problem) => {
    expect(readMcpServers(section)).toEqual({ servers: {}, problems: [problem] })
  })

  it('win over those of the config, in the order of their names', () => {
    const server = (command: string) => ({ command, args: [], env: {} })
    const merged = mergeMcpServers(
      { web: server('old'), db: server('db') },
      { web: server('new'), api: server('api') },
    )
    expect(Object.entries(merged).map(([name, { command }]) => [name, command])).toEqual([
      ['api', 'api'],
      ['db', 'db'],
      ['web', 'new'],
    ])
  })
})
