import { describe, expect, it } from 'vitest'
import { select } from '../../src/backlog/select/selection.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { explain, firstSentence } from '../../src/screen/task-lines.ts'
import { buildTask } from '../task/build-task.ts'

describe('the first sentence', () => {
  it.each([
    ['Which one? The free ones are slow.', 'Which one?'],
    ['It needs v1.2 of it. Then we can.', 'It needs v1.2 of it.'],
    ['키가 필요하다。 그리고', '키가 필요하다。'],
    ['needs STRIPE_KEY', 'needs STRIPE_KEY'],
  ])('%j is said in a row as %j', (text, sentence) => {
    expect(firstSentence(text)).toBe(sentence)
  })
})

describe('why a task waits', () => {
  const whyOf = (tasks: Parameters<typeof select>[0], id: string): readonly string[] => {
    const state = select(tasks).states.find(({ task }) => task.id === id)!
    return explain(state as Parameters<typeof explain>[0]).map(({ why }) => why)
  }

  it('draws no arrows between those that wait for each other, for they need not be a ring', () => {
    const tangle = [
      buildTask('T-001', { depends: ['T-002'] }),
      buildTask('T-002', { depends: ['T-001', 'T-003'] }),
      buildTask('T-003', { depends: ['T-002', 'T-001'] }),
    ]
    expect(whyOf(tangle, 'T-003')).toEqual(['T-001, T-002, T-003 wait for each other'])
    expect(whyOf([buildTask('T-001', { depends: ['T-001'] })], 'T-001')).toEqual(['waits for itself'])
  })

  it('names the first of very many', () => {
    const ids = Array.from({ length: 20 }, (_, at) => `T-${String(at + 1).padStart(3, '0')}`)
    const ring = ids.map((id, at) => buildTask(id, { depends: [ids[(at + 1) % ids.length]!] }))
    const first = ids.slice(0, 8).join(', ')
    expect(whyOf(ring, 'T-001')).toEqual([`${first} and 12 more wait for each other`])
  })

  it('says at which line and column', async () => {
    const text = '# T-001: A\n\n- **Status**: TODO\n- **Depends**: T-001 and what comes\n'
    const [state] = select([await parseTask({ file: 'docs/tasks/T-001.md', text })]).states
    expect(explain(state!).map(({ where }) => where)).toContain('docs/tasks/T-001.md:4:26')
  })
})
