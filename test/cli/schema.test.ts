import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AGENT_NAMES } from '../../src/base/names.ts'
import { git, projectFolder, put } from '../repository.ts'
import { repository, run } from './script-repository.ts'
import { by } from './ralph.ts'

interface Schema {
  readonly oneOf: readonly {
    readonly properties: Record<string, { const?: string }>
    readonly required: string[]
  }[]
  readonly properties: Record<
    string,
    { examples?: string[]; pattern?: string; oneOf?: Schema['properties'][string][] }
  >
  readonly required: string[]
}

async function schema(name: string): Promise<Schema> {
  const { code, stdout } = await by(projectFolder({}), 'schema', name)
  expect(code).toBe(0)
  return JSON.parse(stdout) as Schema
}

describe('ralph schema', () => {
  it('describes each event, as a run emits it', async () => {
    const { oneOf } = await schema('events')
    const events = readFileSync(new URL('../../src/engine/events/event.ts', import.meta.url), 'utf8')
    const types = [...events.matchAll(/^  event\(\s*'([a-z-]+)'/gm)].map((match) => match[1]!)
    expect(new Set(oneOf.map(({ properties }) => properties['type']!.const))).toEqual(new Set(types))
    const { stdout } = await run(repository({ 'T-001': 'echo one > one.txt' }), '--json')
    const emitted = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(emitted.length).toBeGreaterThan(5)
    for (const event of emitted) {
      const described = oneOf.find(({ properties }) => properties['type']!.const === event['type'])
      expect(Object.keys(event)).toEqual(expect.arrayContaining(described!.required))
      expect(Object.keys(described!.properties)).toEqual(expect.arrayContaining(Object.keys(event)))
    }
  })

  it('describes a task as list prints it', async () => {
    const { properties } = await schema('task')
    const { stdout } = await by(repository({ 'T-001': 'true' }), 'list', '--json')
    const { tasks } = JSON.parse(stdout) as { tasks: object[] }
    expect(new Set(Object.keys(tasks[0]!))).toEqual(new Set(Object.keys(properties)))
  })

  it('has an editor propose agents and durations', async () => {
    const { properties } = await schema('config')
    expect(JSON.stringify(properties['agent'])).toContain(JSON.stringify(AGENT_NAMES))
    const { examples, pattern } = properties['stallTimeout']!
    expect(examples).toContain('20m')
    for (const good of ['90', '90s', '1h 30m', '20 min']) expect(good).toMatch(new RegExp(pattern!))
    for (const bad of ['', 'soon', '-5', '1.5h']) expect(bad).not.toMatch(new RegExp(pattern!))
  })

  it('describes what an agent answers in each phase of a plan', async () => {
    const { properties } = await schema('plan')
    expect(Object.keys(properties)).toEqual(['research', 'decisions', 'requirements', 'tasks'])
  })

  it('is one of four', async () => {
    const { code, stderr } = await by(projectFolder({}), 'schema', 'tasks')
    expect([code, stderr]).toEqual([
      2,
      "error: there is no schema 'tasks'\nThere are task, config, events, plan.\n",
    ])
  })
})

describe('the $schema that init writes', () => {
  const installed = 'node_modules/ralph-tasks/dist/ralph.config.schema.json'

  it.each(['', 'packages/shop'])('leads to where ralph is installed, from %j', async (folder) => {
    const root = projectFolder({ [installed]: '{}' })
    git(root, 'init', '-q')
    const cwd = join(root, folder)
    mkdirSync(cwd, { recursive: true })
    put(cwd, { 'package.json': '{}' })
    await by(cwd, 'init', '--yes')
    const { $schema } = JSON.parse(readFileSync(join(cwd, 'ralph.config.json'), 'utf8')) as {
      $schema: string
    }
    expect(resolve(cwd, $schema)).toBe(join(root, installed))
    expect(existsSync(join(dirname(join(cwd, 'ralph.config.json')), $schema))).toBe(true)
  })
})
