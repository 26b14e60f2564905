import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { estimateTokenCount } from 'tokenx'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OFFERED } from '../../src/cli/commands/mcp.ts'
import { openSignalFolder, type SignalFolder } from '../../src/agents/signal/folder.ts'
import type { Signal } from '../../src/agents/signal/signal.ts'
import { commit, git, makeFolder, makeRepository, put, taskText } from '../repository.ts'
import { connect, SELF, type Connection } from './client.ts'

const server = (env: Record<string, string> = {}) => ({ command: SELF[0], args: [SELF[1], 'mcp'], env })

const task = (id: string, Status: string, Depends: string) => taskText(id, `Do ${id}`, { Status, Depends })

const BACKLOG = {
  'docs/tasks/T-001.md': task('T-001', 'DONE', 'none'),
  'docs/tasks/T-002.md': task('T-002', 'TODO', 'T-001'),
  'docs/tasks/T-003.md': task('T-003', 'TODO', 'T-002'),
  'ralph.config.json': '{ "gates": [{ "name": "test", "command": "touch it-ran" }] }',
}

describe('the server outside of a run', () => {
  it('offers what commands say, and nothing that runs a task', async () => {
    const root = makeRepository(BACKLOG)
    await using connection = await connect(server(), root)
    const { tools } = await connection.client.listTools()
    expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(OFFERED).toSorted())
    expect(tools.flatMap(({ name, annotations }) => (annotations?.readOnlyHint ? [] : [name]))).toEqual([
      'new',
    ])
    expect((await connection.call('next', {})).text).toContain('T-002  Do T-002')
    expect((await connection.call('list', { status: 'DONE' })).text).toContain('T-001')
    expect((await connection.call('list', { status: 'DONE' })).text).not.toContain('T-003')
    expect((await connection.call('show', { id: '3' })).text).toContain('waits')
    expect((await connection.call('lint', {})).text).toContain('3 task files')
    expect((await connection.call('graph', { id: 'T-003', todo: true })).text).not.toContain('T-001')
    expect((await connection.call('log', {})).ok).toBe(true)
    commit(root, 'One task more', { 'docs/tasks/T-004.md': task('T-004', 'TODO', 'T-003') })
    expect((await connection.call('diff', { range: 'HEAD~1..HEAD' })).text).toContain('T-004  Do T-004')
    expect(git(root, 'status', '--short')).toBe('')
    expect(existsSync(join(root, 'it-ran'))).toBe(false)
  })

  it('writes a task with new, and takes what looks like an option for a text', async () => {
    const root = makeRepository(BACKLOG)
    await using connection = await connect(server(), root)
    const input = { title: '--yolo', depends: ['T-001', 'T-002'] }
    expect(await connection.call('new', input)).toEqual({ ok: true, text: 'docs/tasks/T-004.md\n' })
    expect(readFileSync(join(root, 'docs/tasks/T-004.md'), 'utf8')).toMatch(
      /^# T-004: --yolo\n[^]*T-001, T-002/,
    )
  })

  it('says what is wrong, and goes on', async () => {
    const root = makeRepository(BACKLOG)
    await using connection = await connect(server(), root)
    expect(await connection.call('show', { id: '77' })).toEqual({
      ok: false,
      text: 'there is no task 77\nralph list shows them all.',
    })
    expect((await connection.call('show', { id: '--json' })).ok).toBe(false)
    expect((await connection.call('list', { status: 'done?' })).ok).toBe(false)
    expect((await connection.call('list', { fix: true })).ok).toBe(false)
    await expect(connection.call('run', {})).rejects.toThrow(/not found/)
    expect((await connection.call('next', {})).ok).toBe(true)
  })

  it('says so where there is no project', async () => {
    await using connection = await connect(server(), makeFolder())
    expect(await connection.call('next', {})).toMatchObject({ ok: false })
  })
})

describe('the server in an attempt', () => {
  const said: Signal[] = []
  let workspace: string
  let folder: SignalFolder
  let connection: Connection

  beforeAll(async () => {
    workspace = makeFolder()
    put(workspace, { 'docs/auth.md': 'All about auth.' })
    symlinkSync('/etc', join(workspace, 'out'))
    const resource = { title: 'x', text: null, file: null }
    folder = openSignalFolder(
      makeFolder(),
      [
        { ...resource, uri: 'ralph://task', title: 'The task', text: '# T-001' },
        { ...resource, uri: 'ralph://document/docs/auth.md', title: 'docs/auth.md', file: 'docs/auth.md' },
        { ...resource, uri: 'ralph://document/out/hostname', title: 'out/hostname', file: 'out/hostname' },
      ],
      {
        said: (signal) => {
          if (signal.signal === 'withdrawn') return
          said.push(signal)
          folder.reply({ id: signal.id, ok: true, text: `${signal.signal} is heard` })
        },
        refused: () => undefined,
      },
    )
    connection = await connect(server({ ...folder.env, RALPH_INSIDE: workspace }), workspace)
  })
  afterAll(async () => {
    await connection[Symbol.asyncDispose]()
    folder.close()
  })

  it('offers the signals, and nothing else', async () => {
    const { tools } = await connection.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['done', 'blocked', 'progress', 'ask', 'add_task'])
    for (const { inputSchema } of tools) expect(inputSchema.type).toBe('object')
  })

  it('costs a model less than 1,600 tokens, together with what is offered outside', async () => {
    await using outside = await connect(server(), makeRepository(BACKLOG))
    const lists = await Promise.all([connection, outside].map(({ client }) => client.listTools()))
    const [inside = 0, all = 0] = lists.map(({ tools }) => estimateTokenCount(JSON.stringify(tools)))
    expect(inside + all).toBeLessThan(1600)
  })

  it('gives what there is to read, and nothing outside of the workspace', async () => {
    const { client } = connection
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toContain('ralph://task')
    const read = async (uri: string) => (await client.readResource({ uri })).contents
    expect(await read('ralph://task')).toMatchObject([{ text: '# T-001' }])
    expect(await read('ralph://document/docs/auth.md')).toMatchObject([{ text: 'All about auth.' }])
    await expect(read('ralph://document/out/hostname')).rejects.toThrow(/leads out/)
    await expect(read('ralph://document/etc/passwd')).rejects.toThrow(/not found|unknown/i)
  })

  it('refuses whatever is malformed, and passes none of it on', async () => {
    const names = ['done', 'blocked', 'progress', 'ask', 'add_task']
    const input = fc.dictionary(
      fc.constantFrom(
        'summary',
        'criteria_met',
        'reason',
        'note',
        'question',
        'options',
        'title',
        '__proto__',
        'x',
      ),
      fc.oneof(fc.jsonValue(), fc.string({ maxLength: 20 }), fc.array(fc.string({ maxLength: 5 }))),
    )
    const isText = (value: unknown, most: number) =>
      typeof value === 'string' && value.trim() !== '' && value.trim().length <= most
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), input, async (name, values) => {
        const before = said.length
        const { ok } = await connection.call(name, values)
        expect(said.length - before).toBe(ok ? 1 : 0)
        const last = said.at(-1)
        if (ok && last?.signal === 'progress') expect(isText(last.input.note, 2000)).toBe(true)
      }),
      { numRuns: 200 },
    )
    expect((await connection.call('progress', { note: 'still here' })).ok).toBe(true)
  })

  it('outlives lines that are no messages', async () => {
    const child = spawn(SELF[0], [SELF[1], 'mcp'], {
      cwd: workspace,
      env: { ...process.env, ...folder.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = fc.sample(fc.oneof(fc.json(), fc.string(), fc.constant('{"jsonrpc":"2.0","id":1}')), 100)
    for (const line of lines) child.stdin.write(`${line.replaceAll('\n', ' ')}\n`)
    const initialize = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    }
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'initialize', params: initialize })}\n`,
    )
    let answers = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => (answers += String(chunk)))
    await expect.poll(() => answers).toContain('"id":"last"')
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('leaves nothing beside its three files', () => {
    expect(readdirSync(folder.path).toSorted()).toEqual(['replies.ndjson', 'resources.json', 'said.ndjson'])
  })
})
