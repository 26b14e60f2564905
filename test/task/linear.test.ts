import { describe, expect, test } from 'vitest'
import { blockTask, completeTask } from '../../src/backlog/finish.ts'
import { parseTask } from '../../src/backlog/parse.ts'

const HEAD = '# T-004: Title\n\n- **Status**: TODO\n'

/** Texts that make readers of Markdown slow, by how often their piece is repeated. */
const HOSTILE: Record<string, (times: number) => string> = {
  'one long line': (times) => HEAD + 'a'.repeat(times * 10),
  'one long heading': (times) => `# T-004: ${'*a_ '.repeat(times)}\n`,
  'one long value': (times) => `${HEAD}- **Touches**: ${'`a` [b] '.repeat(times)}\n`,
  'a value of blanks': (times) => `${HEAD}- **Touches**: a${' '.repeat(times * 5)}b\n`,
  'ids without end': (times) => `${HEAD}- **Depends**: ${'T-001 (a, '.repeat(times)}\n`,
  'ids in fields': (times) => HEAD + '- **K**:\n  - T-1\n'.repeat(times),
  'fields in one row': (times) => `${HEAD}- **K**: ${'a · **B**: T-1 '.repeat(times)}\n`,
  'fields of a paragraph': (times) => `${HEAD}\n${'**K**: v\n'.repeat(times)}`,
  'ids that stand apart': (times) => HEAD + '- T-1\n'.repeat(times),
  'brackets left open': (times) => `${HEAD}- **Depends**: ${'['.repeat(times)}\n`,
  'comments left open': (times) => `${HEAD}\n${'x <!-- '.repeat(times)}\n`,
  'comments left open in a paragraph of fields': (times) =>
    `# T-004\n\n**Status**: TODO ${'<!-- '.repeat(times)}\n`,
  'code marks of every length': (times) =>
    `${HEAD}- **Tags**: ${Array.from({ length: Math.sqrt(times) }, (_, i) => '`'.repeat(i)).join('a')}\n`,
  'list upon list': (times) => `${HEAD}\n${'- '.repeat(times)}x\n`,
  'quote upon quote': (times) => `${HEAD}\n${'>'.repeat(times)}x\n`,
  items: (times) => HEAD + '- a\n'.repeat(times),
  'wrapped fields': (times) => `# T-004\n\n**Status**: TODO\n${'  wrapped\n'.repeat(times)}`,
  fences: (times) => HEAD + '```\n'.repeat(times),
  'indented fences': (times) => HEAD + '  ```\n'.repeat(times),
  headings: (times) => HEAD + '## A\n'.repeat(times),
  'underlined headings': (times) => HEAD + '\nA\n---\n'.repeat(times),
  'rows of a table': (times) => `# T-004\n\n| a | b |\n|--|--|\n${'| Status | TODO |\n'.repeat(times)}`,
  frontmatter: (times) => `---\nstatus: TODO\n${'tags: [a, b]\n'.repeat(times)}---\n# T-004\n`,
  'frontmatter nested': (times) => `---\na: ${'['.repeat(times)}\n---\n# T-004\n`,
  'NUL and lone surrogates': (times) => `${HEAD}- **Tags**: ${'\0\uD800'.repeat(times)}\n`,
  'underlined headings without a blank line': (times) => HEAD + '\n' + 'A\n===\n'.repeat(times),
  'items within items': (times) => HEAD + '\n' + '*  - y\n'.repeat(times),
  'items within quotes': (times) => HEAD + '\n' + '> 1.   - y\n'.repeat(times),
  'definitions above rules': (times) => `${HEAD}\n${'[a]: b\nb\n---\n   '.repeat(times)}\n`,
  'items that go on': (times) => HEAD + '- a\nb\n'.repeat(times),
  'quotes that go on': (times) => HEAD + '\n> a\nb\n\n'.repeat(times),
  'lone carriage returns': (times) => HEAD + 'a\r'.repeat(times),
}

/** Processor time. */
async function effort(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

describe('reading and finishing takes time in proportion to the size of', () => {
  // A busy machine may spoil one measurement, but not three.
  test.each(Object.keys(HOSTILE))('%s', { retry: 2 }, async (name) => {
    const work = async (times: number): Promise<void> => {
      const task = await parseTask({ file: 'docs/tasks/T-004.md', text: HOSTILE[name]!(times) })
      completeTask(task, {
        at: new Date(0),
        seconds: 1,
        commit: null,
        costUsd: null,
        notes: HOSTILE[name]!(times),
      })
      blockTask(task, { reason: HOSTILE[name]!(times), attempts: 1, asks: false })
    }
    await work(100)
    const small = Math.min(await effort(() => work(400)), await effort(() => work(400)))
    // Eight times the size: a quadratic reader takes sixty-four times as long.
    expect((await effort(() => work(3200))) / Math.max(small, 1)).toBeLessThan(40)
  })
})
