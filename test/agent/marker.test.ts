import fc from 'fast-check'
import type { Node, Parent } from 'mdast'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { describe, expect, test } from 'vitest'
import { readLastLine, readMarker } from '../../src/agents/marker.ts'

const done = { kind: 'done' }

describe('a marker counts', () => {
  test.each([
    ['alone', '<TASK_DONE>', ''],
    ['on a line of its own', 'I added it.\n\n<TASK_DONE>\n', 'I added it.'],
    ['right below a line of text', 'I added it.\n<TASK_DONE>', 'I added it.'],
    ['above the summary', '<TASK_DONE>\n\nI added it.', 'I added it.'],
    ['as the very end', 'Created hello.txt. <TASK_DONE>', 'Created hello.txt.'],
    ['as the very end of a list item', '- one\n- two <TASK_DONE>  \n\n', '- one\n- two'],
    ['in bold', 'Done.\n\n**<TASK_DONE>**', 'Done.'],
    ['closed like a tag', 'Done.\n<TASK_DONE/>', 'Done.'],
    ['inside a list item', '- one\n\n  <TASK_DONE>', '- one'],
    ['with CRLF', 'Done.\r\n<TASK_DONE>\r\n', 'Done.'],
    ['behind closed code', '```sh\nnpm test\n```\n<TASK_DONE>', '```sh\nnpm test\n```'],
    ['behind a longer fence', '````\n```\n````\n<TASK_DONE>', '````\n```\n````'],
    ['behind code in a list', '- x\n  ```\n  a\n  ```\n<TASK_DONE>', '- x\n  ```\n  a\n  ```'],
    ['behind a quote and a blank line', '> said\n\n<TASK_DONE>', '> said'],
    ['behind inline code', 'I ran `npm test`.\n<TASK_DONE>', 'I ran `npm test`.'],
    ['in backticks at the end', 'Done.\n\n`<TASK_DONE>`\n', 'Done.'],
    ['in a fence of its own at the end', 'Done.\n\n```text\n<TASK_DONE>\n```\n', 'Done.'],
    ['in a fence of tildes', '~~~\n<TASK_DONE>\n~~~', ''],
    ['in lower case', 'Done.\n<task_done>', 'Done.'],
    ['with a closing tag', 'Done.\n<TASK_DONE></TASK_DONE>', 'Done.'],
    ['above a rule', 'Done.\n\n<TASK_DONE>\n---', 'Done.\n\n\n---'],
  ])('%s', (_, message, notes) => {
    expect(readMarker(message)).toEqual({ marker: done, message: notes })
  })

  test.each([
    ['<TASK_BLOCKED reason="needs STRIPE_KEY">', 'needs STRIPE_KEY'],
    [`<TASK_BLOCKED reason='needs "the" key'>`, 'needs "the" key'],
    ['<TASK_BLOCKED reason="a > b, "quoted"" />', 'a > b, "quoted"'],
    ['I cannot. <TASK_BLOCKED reason="no network">', 'no network'],
    [String.raw`<TASK_BLOCKED reason="\".ts\" or \"ts\"?">`, '".ts" or "ts"?'],
    ['<TASK_BLOCKED reason="">', 'the agent gave no reason'],
    ['<TASK_BLOCKED>', 'the agent gave no reason'],
  ])('with its reason: %s', (message, reason) => {
    expect(readMarker(message).marker).toEqual({ kind: 'blocked', reason })
  })

  test('the last where there are two, and none is left in the notes', () => {
    const blocked = '<TASK_BLOCKED reason="no key">'
    expect(readMarker(`${blocked}\n\nFound it.\n\n<TASK_DONE>`)).toEqual({
      marker: done,
      message: 'Found it.',
    })
    expect(readMarker(`<TASK_DONE>\n\nNo.\n\n${blocked}`).marker).toEqual({
      kind: 'blocked',
      reason: 'no key',
    })
  })
})

describe('a marker does not count', () => {
  test.each([
    ['in a sentence', 'I will print <TASK_DONE> when I am ready.'],
    ['in a sentence above another', 'Then <TASK_DONE>\n\nNot yet.'],
    ['in a fence with more in it', '```\nnpm test\n<TASK_DONE>\n```'],
    ['in a fence above the end', '```\n<TASK_DONE>\n```\nNot yet.'],
    ['in inline code above the end', '`<TASK_DONE>`\n\nNot yet.'],
    ['in inline code in a sentence', 'Then I print `<TASK_DONE>`'],
    ['in a fence that nothing closes', 'So:\n```\n<TASK_DONE>'],
    ['in a fence that a shorter one does not close', '````\n```\n<TASK_DONE>\n````'],
    ['in a fence that an indented one does not close', '```\n    ```\n<TASK_DONE>\n```'],
    ['in a fence in a list', '- so:\n  ```\n  <TASK_DONE>\n  ```'],
    ['in the second of two fences, the first ended by its list', '- ```\n  a\nb\n```\n<TASK_DONE>\nx\n```'],
    ['indented as code', 'So:\n\n    <TASK_DONE>'],
    ['indented by a tab', 'So:\n\n\t<TASK_DONE>'],
    ['in inline code over lines', 'a `b\n<TASK_DONE>\nc` d'],
    ['in a quote', '> <TASK_DONE>'],
    ['in a quote that a line goes on with', '> The prompt says:\n<TASK_DONE>'],
    ['in a comment', '<!-- <TASK_DONE> -->'],
    ['in a comment over lines', '<!--\n<TASK_DONE>\n-->'],
    ['in a fence below an item that may be none', 'x\n\n    a\n\n- \n  ```\n<TASK_DONE>'],
    ['in HTML', '<pre>\n<TASK_DONE>\n\n<TASK_DONE>\n</pre>'],
    ['as an item', '- <TASK_DONE>\n- more'],
    ['with dots for a reason', '<TASK_BLOCKED reason="…">'],
    ['that is none', '<TASK_DONE_SOON>'],
  ])('%s', (_, message) => {
    expect(readMarker(message)).toEqual({ marker: null, message })
  })

  const prompt = 'Do the task.\n\nEnd with a summary and then, on its own line:\n\n<TASK_DONE>\n'
  test.each([
    ['the whole prompt', prompt, prompt],
    ['its end', 'on its own line:\n\n<TASK_DONE>', 'x on its own line:\n\n<TASK_DONE>'.slice(2)],
    ['a line of it', 'Close with <TASK_DONE>', 'Close with <TASK_DONE>'],
  ])('where it repeats %s', (_, prompt, message) => {
    expect(readMarker(message, prompt).marker).toBeNull()
    expect(readLastLine(message, prompt).marker).toBeNull()
  })

  test('while words of its own before it make it count', () => {
    expect(readMarker(`${prompt}\nAll is in place.\n\n<TASK_DONE>`, prompt).marker).toEqual(done)
    expect(readMarker('<TASK_DONE>', prompt).marker).toEqual(done)
  })
})

test('of a plain program only the last line counts', () => {
  expect(readLastLine('one\n<TASK_DONE>\n\n')).toEqual({ marker: done, message: 'one' })
  expect(readLastLine('one\n<TASK_DONE>\ntwo').marker).toBeNull()
  expect(readLastLine('one <TASK_DONE>').marker).toBeNull()
  expect(readLastLine('')).toEqual({ marker: null, message: '' })
})

/** Where remark sees a marker in code, a quote or HTML, but for a fence with nothing else at the very end. */
function hidden(message: string): boolean {
  const visit = (node: Node, inside: boolean): boolean => {
    const closed = inside || ['code', 'inlineCode', 'html', 'blockquote'].includes(node.type)
    const holds = 'value' in node && String(node.value).includes('<TASK_DONE>')
    if (holds && closed) return true
    return 'children' in node && (node as Parent).children.some((child) => visit(child, closed))
  }
  const tree = unified().use(remarkParse).parse(message)
  const last = tree.children.at(-1)
  const isAlone = last?.type === 'code' && last.value.trim() === '<TASK_DONE>'
  return visit(isAlone ? { ...tree, children: tree.children.slice(0, -1) } : tree, false)
}

// prettier-ignore
const PIECES = [
  '```', '~~~', '````', '`', '``', '\\`', '    ', '  ', ' ', '\t', '\n', '\n', '\n\n', '- ', '* ', '-', '2. ', '1. ', '> ', '>',
  '# ', '---', '===', '<!--', '-->', '<div>', '</div>', '<b>', '<pre>', '</pre>', '<?', '?>', 'x', 'x y',
]

test('no Markdown that remark reads as code, quote or HTML passes for a marker', () => {
  const piece = fc.constantFrom(...PIECES)
  const half = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''))
  let counted = 0
  fc.assert(
    fc.property(half, half, fc.constantFrom('\n', '\n\n', '\n  '), (before, after, gap) => {
      const message = `${before}${gap}<TASK_DONE>\n${after}`
      if (readMarker(message).marker === null) return
      counted++
      expect(hidden(message)).toBe(false)
    }),
    { numRuns: Number(process.env['FUZZ'] ?? 2000) },
  )
  expect(counted).toBeGreaterThan(100)
})

test.each([
  ['backticks', '`'.repeat(300_000)],
  ['runs of backticks', Array.from({ length: 700 }, (_, i) => '`'.repeat(i)).join(' ')],
  ['quotes', '>'.repeat(300_000)],
  ['items', '- '.repeat(150_000)],
  ['open tags', '<a "'.repeat(75_000)],
  ['spaces in a tag', `<a${' '.repeat(300_000)}x`],
  ['fences', '```\n'.repeat(75_000)],
  ['quoted lines', `${'>'.repeat(90)}\n`.repeat(3000)],
  ['markers', 'x <TASK_DONE>\n'.repeat(20_000)],
  ['markers on a line', '<TASK_BLOCKED reason="'.repeat(15_000)],
  ['quotation marks', `<TASK_BLOCKED reason=${'" '.repeat(150_000)}`],
  ['tabs', `${'\t'.repeat(300_000)}x`],
])('%s without number are read in linear time', (_, text) => {
  // A quadratic reading would take minutes, and the time limit of the test would end it.
  expect(readMarker(`${text}\n\n<TASK_DONE>`, text).message.length).toBeGreaterThan(0)
})
