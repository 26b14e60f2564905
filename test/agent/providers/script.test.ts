import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { script, scriptIn } from '../../../src/agents/providers/command.ts'
import { requestOf, runOf } from '../requests.ts'

const run = async (text: string | null) => {
  const task = { ...requestOf().task, script: text }
  return (await runOf(script, { cwd: tmpdir(), task })).outcome
}

describe.skipIf(process.platform === 'win32')('the script agent', () => {
  test('is done when its script exits with 0, and has its output for notes', async () => {
    expect(await run('echo "Wrote $RALPH_TASK."\nexit 0\n')).toMatchObject({
      end: { kind: 'done' },
      finalMessage: 'Wrote T-004.',
    })
  })

  test('is not done when it fails, whatever it prints', async () => {
    expect((await run('echo "<TASK_DONE>"; echo no >&2; exit 2')).end).toEqual({
      kind: 'crashed',
      reason: 'the script exited with code 2: no',
    })
  })

  test.each([
    [
      'the error, wherever it stands',
      `echo "loading" >&2; echo "Error: Cannot find module './nope'" >&2; echo "Require stack:" >&2
printf '    at Module (node:internal/modules/cjs/loader:1)\\n  code: 1\\n}\\n\\nNode.js v20\\n' >&2; exit 1`,
      "Error: Cannot find module './nope'",
      ["Error: Cannot find module './nope'", 'Require stack:', '  code: 1', '}', 'Node.js v20'],
    ],
    ['what is printed where nothing is on stderr', 'echo one; echo two; exit 1', 'two', ['one', 'two']],
  ])('names in its reason %s', async (_, text, telling, lines) => {
    expect((await run(`${text}\n`)).end).toEqual({
      kind: 'crashed',
      reason: [`the script exited with code 1: ${telling}`, ...lines].join('\n'),
    })
  })

  test('refuses a task that has no script, which no other try would change', async () => {
    expect((await run(null)).end).toEqual({
      kind: 'refused',
      reason: 'T-004 has no fenced sh block under "## Script"',
      hopeless: 'task',
    })
  })

  test('gives its script no prompt to read', async () => {
    expect((await run('cat; echo end')).finalMessage).toBe('end')
  })
})

test.each([
  ['the first sh block', 'Text\n\n```sh\na\nb\n```\n\n```sh\nc\n```', 'a\nb\n'],
  ['one of tildes, with CRLF', '~~~bash\r\na\r\n~~~\r\n', 'a\n'],
  ['one that holds a shorter fence', '````sh\ncat <<E\n```\nE\n````', 'cat <<E\n```\nE\n'],
  ['nothing in another language', '```js\na\n```', null],
  ['nothing', '', null],
])('a script section has %s', (_, section, expected) => {
  expect(scriptIn(section)).toBe(expected)
})
