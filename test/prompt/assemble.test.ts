import * as fc from 'fast-check'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { describe, expect, it } from 'vitest'
import { assemblePrompt } from '../../src/prompt/assemble.ts'
import { countTokens } from '../../src/prompt/tokens.ts'
import { hostileText } from './hostile-text.ts'
import { gather, makeProject, promptOf, readTask } from './project.ts'

const TASK =
  '# T-002: Two\n\n- **Status**: TODO\n- **Milestone**: 1 — One\n- **Depends**: T-001\n\n## Hints\n- a\n'

describe('a prompt', () => {
  it('is made of parts that say their size', async () => {
    const project = makeProject({ 'docs/prompts/rules.md': 'Größe\n' })
    const { text, parts, estimate } = await promptOf(project, await readTask('T-002', TASK))
    expect(parts.map(({ name }) => name)).toEqual(['rules', 'milestone', 'task', 'hints', 'instructions'])
    expect(parts.map((part) => part.text).join('\n\n')).toBe(text.trimEnd())
    for (const part of parts) {
      expect(part.bytes).toBe(Buffer.byteLength(part.text))
      expect(part.tokens).toBe(countTokens(part.text))
    }
    expect(estimate).toBe(parts.reduce((sum, { tokens }) => sum + tokens, 0))
    expect(Math.abs(estimate - countTokens(text))).toBeLessThan(parts.length * 2)
  })

  it("lists a feature's documents with their size, where they are read on demand", async () => {
    const project = makeProject({
      'docs/features/auth.md': '# Auth\n\n- **Knowledge**: `docs/auth.md`, `docs/gone.md`\n',
      'docs/auth.md': 'All about auth.\n'.repeat(200),
    })
    const task = await readTask('T-002', TASK.replace('- **Depends**', '- **Feature**: auth\n- **Depends**'))
    const { text, parts } = await promptOf(project, task, { onDemand: true })
    expect(text).toMatch(/- `docs\/auth\.md` \(about \d{3} tokens\)/)
    expect(text).not.toContain('All about auth.')
    expect(text).toContain('`docs/gone.md`')
    for (const part of parts) expect(part.tokens).toBe(countTokens(part.text))
    expect((await promptOf(project, task)).text).toContain('All about auth.')
  })

  it.each([
    ['gate-failed', 'Learn from what went wrong', 'What the checks printed'],
    ['timeout', 'The last attempt came to its limit.', 'What it did at the end'],
    ['max-turns', 'The last attempt came to its limit.', 'What it did at the end'],
    ['no-marker', 'ended without a word on whether the task is done', 'What it did at the end'],
    ['blocked', 'had a question for a person', 'What it did at the end'],
    ['rate-limited', 'by no mistake of its own', 'What it did at the end'],
    ['lost', 'by no mistake of its own', 'What it did at the end'],
  ])('says what to make of an attempt that ended as %s', async (outcome, lead, about) => {
    const attempt = {
      number: 2,
      outcome,
      reason: 'so',
      output: 'Bash npm test',
      changed: [],
      where: 'git show x',
    }
    const task = await readTask('T-002', TASK)
    const { text } = await promptOf(makeProject(), task, { attempts: [attempt], continues: 2 })
    expect(text).toContain('The files hold what attempt 2 changed: go on from there.')
    for (const part of [lead, about]) expect(text).toContain(part)
  })

  it('asks for the tools where the agent has them, and for a line where it has not', async () => {
    const task = await readTask('T-002', TASK)
    const [tools, lines] = await Promise.all(
      [true, false].map(async (hasTools) => (await promptOf(makeProject(), task, { hasTools })).text),
    )
    expect(tools).toContain('call `done` of the MCP server `ralph`')
    expect(tools).not.toMatch(/<TASK_/)
    expect(lines).toContain('<TASK_DONE>')
    expect(lines).not.toContain('MCP server')
  })

  it("counts what a team's template adds as a part of its own", async () => {
    const project = makeProject({ 'docs/prompts/task.md': 'Hello.\n\n{{task}}\n\n{{instructions}}\n' })
    const { parts } = await promptOf(project, await readTask('T-002', TASK))
    expect(parts.map(({ name }) => name)).toEqual(['task', 'instructions', 'template'])
    expect(parts.at(-1)?.text).toContain('Hello.')
  })

  it('keeps its shape, whatever stands in files, outputs, notes and names', async () => {
    await fc.assert(
      fc.asyncProperty(hostileText, hostileText, hostileText, async (content, output, words) => {
        const notes = content.replace(/^ {0,3}#/gm, '')
        const done = await readTask(
          'T-001',
          `# T-001: One\n\n- **Status**: DONE\n\n## Completion Notes\n${notes}\n`,
        )
        const task = await readTask('T-002', TASK)
        const gathered = await gather(makeProject(), task, {
          backlog: [task, done],
          attempts: [
            { number: 1, outcome: 'gate-failed', reason: words, output, changed: [words], where: words },
          ],
          gates: [{ name: words, command: words, required: true, failedBefore: false }],
        })
        const { text } = assemblePrompt({
          ...gathered.input,
          files: [{ kind: 'shown', path: words, stretch: null, text: content, bytes: 9, listed: false }],
          knowledge: [{ kind: 'listing', pattern: words, paths: [words], more: false }],
          prd: [{ kind: 'named', path: words, reason: 'missing', bytes: null }],
        })
        const top = unified()
          .use(remarkParse)
          .parse(text)
          .children.filter((node) => node.type === 'heading' && node.depth === 1)
          .map((node) => text.slice(node.position!.start.offset, node.position!.end.offset))
        expect(top).toEqual([
          '# Reference documents',
          '# From the requirements',
          '# Relevant files',
          '# The milestone',
          '# Your task',
          '# T-002: Two',
          '# Earlier attempts at this task',
          '# What this task builds on',
          '# Instructions',
        ])
      }),
      { numRuns: 200 },
    )
  })

  it('stays within bounds however much was tried, printed and noted', async () => {
    const task = await readTask('T-002', TASK)
    const notes = 'A line of notes.\n'.repeat(5000)
    const done = await readTask(
      'T-001',
      `# T-001: One\n\n- **Status**: DONE\n\n## Completion Notes\n${notes}`,
    )
    const attempts = Array.from({ length: 40 }, (_, index) => ({
      number: index + 1,
      outcome: 'gate-failed',
      reason: 'word '.repeat(5000),
      output: `${'a line of output\n'.repeat(5000)}the end of ${index + 1}\n`,
      changed: Array.from({ length: 500 }, (_, file) => `src/${file}.ts`),
      where: `git show refs/ralph/attempts/T-002/${index + 1}`,
    }))
    const { text, estimate } = await promptOf(makeProject(), task, { backlog: [task, done], attempts })
    expect(estimate).toBeLessThan(30_000)
    expect(text).toContain('the end of 40\n')
    expect(text).toContain('- Attempt 1: `gate-failed`')
    expect(text).toContain('and 450 more')
    expect(text).toMatch(/The first \d+ of 5000 lines of its completion notes/)
  })

  it('lists the latest of what is done in the milestone', async () => {
    const task = await readTask('T-999', '# T-999: Last\n\n- **Status**: TODO\n- **Milestone**: 1 — One\n')
    const done = await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        readTask(
          `T-${index + 1}`,
          `# T-${index + 1}: Done ${index + 1}\n\n- **Status**: DONE\n- **Milestone**: 1 — One\n`,
        ),
      ),
    )
    const { text } = await promptOf(makeProject(), task, { backlog: [...done, task] })
    expect(text).toContain(
      '`1 — One`: 120 of 121 tasks done. Done so far:\n\n- 70 earlier ones\n- T-71: Done 71\n',
    )
    expect(text).toContain('\n- T-120: Done 120\n')
  })
})
