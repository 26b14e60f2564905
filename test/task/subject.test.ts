import { describe, expect, it } from 'vitest'
import { subjectOf, titleIn } from '../../src/backlog/subject.ts'

const task = { id: 'T-004', title: 'Add (the) login [form]', milestone: '1 — Shop' }

describe('the subject of a commit', () => {
  it.each([
    ['{id}: {title}', 'T-004: Add (the) login [form]'],
    ['feat({id}): {title} [{milestone}]', 'feat(T-004): Add (the) login [form] [1 — Shop]'],
    ['{milestone} | {title} | {id}', '1 — Shop | Add (the) login [form] | T-004'],
    ['{title} {other}', 'Add (the) login [form] {other}'],
  ])('made by %s is read back by it', (template, subject) => {
    expect(subjectOf(template, task)).toBe(subject)
    expect(titleIn(subject, task.id, template)).toBe(task.title)
  })

  it('may be the usual one, from before there was a template', () => {
    expect(titleIn('T-004: Add it', 'T-004', 'feat({id}): {title}')).toBe('Add it')
  })

  it('that no template has made is the title as it stands', () => {
    expect(titleIn('Log in (#12)', 'T-004', 'feat({id}): {title}')).toBe('Log in (#12)')
    expect(titleIn('done: T-004', 'T-004', 'done: {id}')).toBe('done: T-004')
    expect(titleIn('T-004: ', 'T-004')).toBe('T-004: ')
  })
})
