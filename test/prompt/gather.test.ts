import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { assemblePrompt } from '../../src/prompt/assemble.ts'
import { gather, HAS_LINKS, makeProject, promptOf, readTask } from './project.ts'

const fieldsOf = (fields: string): string => `# T-003: Three\n\n- **Status**: TODO\n${fields}\n`

describe('what a prompt is made of', () => {
  it('is the same in whatever order the files are found and the backlog is read', async () => {
    const files = Object.entries({
      'src/z.ts': 'z\n',
      'src/A.ts': 'A\n',
      'src/ö.ts': 'ö\n',
      'src/i/İ.ts': 'i\n',
      'docs/features/f.md': '# F\n\n- **Context**: src/**/*.ts\n',
    })
    const task = await readTask(
      'T-003',
      fieldsOf('- **Milestone**: 1 — M\n- **Depends**: T-002, T-001\n- **Feature**: f\n- **Touches**: src/'),
    )
    const others = await Promise.all(
      ['T-001', 'T-002', 'T-010'].map((id) =>
        readTask(
          id,
          `# ${id}: Is ${id}\n\n- **Status**: DONE\n- **Milestone**: 1 — M\n\n## Completion Notes\nNoted.\n`,
        ),
      ),
    )
    const [one, other] = [
      makeProject(Object.fromEntries(files)),
      makeProject(Object.fromEntries(files.toReversed())),
    ]
    const first = await promptOf(one, task, { backlog: [task, ...others] })
    const second = await promptOf(other, task, { backlog: [...others.toReversed(), task] })
    expect(second.text).toBe(first.text)
    expect(first.text).not.toContain(one.root)
  })

  it('depends on no locale, no clock and no chance', () => {
    const folder = fileURLToPath(new URL('../../src/prompt', import.meta.url))
    const sources = readdirSync(folder).map((name) => ({
      name,
      text: readFileSync(join(folder, name), 'utf8'),
    }))
    const fickle = /localeCompare|toLocale|Intl\.|new Date|Date\.now|Math\.random|process\./
    expect(sources.filter(({ text }) => fickle.test(text)).map(({ name }) => name)).toEqual([])
  })

  it('warns of names that lead to no file, and of files that cannot be read', async () => {
    const project = makeProject({
      'docs/disciplines/backend.md': '# B\n\n## MCP Servers\n```json\n[]\n```\n',
      'docs/features/billing.md': '# Billing\n',
    })
    const task = await readTask('T-003', fieldsOf('- **Discipline**: backend\n- **Feature**: biling'))
    expect((await gather(project, task)).warnings).toEqual([
      'docs/disciplines/backend.md: expected the servers as a JSON object in a fence',
      'there is no feature biling: docs/features/biling.md does not exist; did you mean billing?',
    ])
  })

  it("has the config's servers and the discipline's", async () => {
    const project = makeProject({
      'docs/disciplines/db.md': '# DB\n\n## MCP Servers\n```json\n{ "db": { "command": "db" } }\n```\n',
    })
    const task = await readTask('T-003', fieldsOf('- **Discipline**: db'))
    const { mcpServers } = await gather(project, task, {
      mcpServers: { web: { command: 'web', args: [], env: {} } },
    })
    expect(Object.keys(mcpServers)).toEqual(['db', 'web'])
  })

  it('holds the files of the task before those of its feature, each once', async () => {
    const project = makeProject({
      'a.ts': 'a\n',
      'b.ts': 'b\n',
      'c.ts': 'c\n',
      'k.md': 'k\n',
      'docs/features/f.md': '# F\n\n- **Knowledge**: k.md\n- **Context**: c.ts, a.ts\n',
    })
    const task = await readTask(
      'T-003',
      fieldsOf('- **Feature**: f\n- **Context**: b.ts, k.md\n- **Touches**: a.ts'),
    )
    const { input } = await gather(project, task)
    const paths = (list: typeof input.files) =>
      list.map((material) => ('path' in material ? material.path : ''))
    expect(paths(input.files)).toEqual(['a.ts', 'b.ts', 'c.ts'])
    expect(paths(input.knowledge)).toEqual(['k.md'])
    expect(assemblePrompt(input).parts.map(({ name }) => name)).toEqual([
      'knowledge',
      'files',
      'task',
      'instructions',
    ])
  })

  it('goes without requirements that are not there, or are too many', async () => {
    const task = await readTask('T-003', fieldsOf('- **PRD Reference**: §1'))
    const textOf = async (files: Record<string, string>) => (await promptOf(makeProject(files), task)).text
    expect(await textOf({})).toContain('- `docs/PRD.md` does not exist yet.')
    expect(await textOf({ 'docs/PRD.md': `# 1\n${'x'.repeat(1024 * 1024)}` })).toContain(
      'is too large to be shown',
    )
    expect(await textOf({ 'docs/PRD.md/x': '' })).toContain('- `docs/PRD.md` is no regular file')
  })

  it.runIf(HAS_LINKS)("stops at a project's own file that cannot be taken", async () => {
    const outside = makeProject({ 'rules.md': 'r' })
    const project = makeProject()
    project.link('docs/prompts/rules.md', `${outside.root}/rules.md`)
    const task = await readTask('T-003', fieldsOf(''))
    await expect(gather(project, task)).rejects.toThrow(
      new UserError('docs/prompts/rules.md lies outside of the project, so it is not shown'),
    )
    const template = makeProject({ 'docs/prompts/task.md': '{{task}}\n{{nope}}\n{{instructions}}' })
    await expect(gather(template, task)).rejects.toThrow(
      'docs/prompts/task.md:2:1: there is no slot {{nope}}',
    )
  })
})
