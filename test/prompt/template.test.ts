import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import {
  DEFAULT_TEMPLATE,
  PART_NAMES,
  type PartTexts,
  parseTemplate,
  renderTemplate,
} from '../../src/prompt/template.ts'

const textsOf = (given: Partial<PartTexts>): PartTexts => ({
  ...(Object.fromEntries(PART_NAMES.map((name) => [name, ''])) as PartTexts),
  ...given,
})

const FILE = 'docs/prompts/task.md'
const errorOf = (source: string): UserError => {
  try {
    parseTemplate(source, FILE)
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('the template was taken')
}

describe('a template', () => {
  it('has its slots filled, and what fills them is not read again', () => {
    const template = parseTemplate('Do:\n{{ task }} now\n\n{{instructions}}\n', FILE)
    const rendered = renderTemplate(
      template,
      textsOf({ task: '{{rules}}', instructions: 'End.', rules: 'R' }),
    )
    expect(rendered).toEqual({
      text: 'Do:\n{{rules}} now\n\nEnd.\n',
      slots: ['task', 'instructions'],
      own: 'Do:\n now\n\n\n',
    })
  })

  it('loses the line of an empty slot, and the blank lines after it', () => {
    const template = parseTemplate(
      '{{rules}}\n\n{{task}}\n\n{{hints}}{{comments}}\n\n\n{{instructions}}',
      FILE,
    )
    expect(renderTemplate(template, textsOf({ task: 'T', instructions: 'I' })).text).toBe('T\n\nI\n')
  })

  it('by default holds every part in its order', () => {
    const texts = Object.fromEntries(PART_NAMES.map((name) => [name, `<${name}>`])) as PartTexts
    const rendered = renderTemplate(DEFAULT_TEMPLATE, texts)
    expect(rendered.text).toBe(`${PART_NAMES.map((name) => `<${name}>`).join('\n\n')}\n`)
    expect(rendered.slots).toEqual(PART_NAMES)
    expect(rendered.own).toBe('')
  })

  it('may hold two braces of its own', () => {
    const template = parseTemplate('\\{{rules}} {{task}} { {x}} <TASK_DONE>', FILE)
    expect(renderTemplate(template, textsOf({ task: 'T', rules: 'R' })).text).toBe(
      '{{rules}} T { {x}} <TASK_DONE>\n',
    )
  })

  it('with an unknown slot is refused, at its place and with the closest name', () => {
    const error = errorOf('{{task}}\n{{instructions}}\n  {{ hint }}\n')
    expect(error.message).toBe('docs/prompts/task.md:3:3: there is no slot {{hint}}')
    expect(error.fix).toBe('Did you mean {{hints}}?')
    expect(errorOf('{{task}}{{instructions}}{{#if x}}').fix).toMatch(/^The slots are \{\{persona\}\}, /)
  })

  it('without the task, or without a way to end, is refused', () => {
    expect(errorOf('{{instructions}} \\{{task}}').message).toBe(
      'docs/prompts/task.md:1:1: the template has no {{task}}',
    )
    expect(errorOf('{{task}}').message).toBe(
      'docs/prompts/task.md:1:1: the template tells the agent no way to end',
    )
  })
})
