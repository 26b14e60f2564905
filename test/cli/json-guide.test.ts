import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { Control } from '../../src/engine/control.ts'
import { controlAnswers, openControlDoor } from '../../src/engine/control-socket.ts'
import { runFolder } from '../../src/engine/folder.ts'
import { by, jsonOf, ralph } from './ralph.ts'
import { env, put } from '../repository.ts'
import { repository, run } from './script-repository.ts'

const guide = readFileSync(new URL('../../docs/json.md', import.meta.url), 'utf8')

/** The rows of a table by the code in their first cell; what stands in brackets is about a key, and no key. */
function rowsOf(heading: string): ReadonlyMap<string, string> {
  const [table = ''] = guide.slice(guide.indexOf(`## ${heading}`)).split(/\n## /, 1)
  const rows = [...table.matchAll(/^\| (`.+`) \| (.+) \|$/gm)]
  return new Map(
    rows.flatMap(([, names = '', text = '']) =>
      codes(names).map((name) => [name, text.replace(/\(.*?\)/g, '')]),
    ),
  )
}

const codes = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)

/** They are for a run under way. */
const OF_RUN = ['pause', 'resume', 'stop', 'skip']
/** They print events, as a run does. */
const OF_EVENTS = ['watch', 'worker']
/** They are for a task that is blocked or done, or for a person with an editor. */
const OF_BLOCKED = ['retry', 'answer', 'reopen', 'edit', 'diff T-004']

describe('docs/json.md', () => {
  const documents = rowsOf('The documents')
  const asked: Readonly<Record<string, string[]>> = {
    next: ['next', '--all', '--explain', '--jobs', '2'],
    show: ['show', '1'],
    prompt: ['prompt', '1'],
    attempts: ['attempts', '1'],
    new: ['new', 'x'],
    init: ['init', '--yes'],
    completion: ['completion', 'bash'],
    complete: ['complete', '1'],
    block: ['block', '1', 'why'],
    'mcp --print-config': ['mcp', '--print-config', 'claude'],
    import: ['import', 'TODO.md'],
    export: ['export', '--as', 'json'],
    plan: ['plan', 'A shop', '--dry-run', '--agent', 'command', '--command', 'echo no'],
    'plan --from': ['plan', '--from', 'TODO.md'],
    'stats --gates': ['stats', '--gates'],
    'run --dry-run': ['run', '--dry-run', '--agent', 'script'],
  }

  it('has a row for every command', () => {
    const named = [...documents.keys()].map((name) => name.split(' ')[0])
    expect(new Set(named)).toEqual(new Set(COMMANDS.map(({ name }) => name)))
  })

  it.each([...documents.keys()].filter((name) => ![...OF_BLOCKED, ...OF_RUN, ...OF_EVENTS].includes(name)))(
    'tells the keys of %s',
    async (name) => {
      const cwd = repository({ 'T-001': 'true' })
      put(cwd, { 'TODO.md': '- [ ] Later\n' })
      const argv = asked[name] ?? [name]
      const keys = Object.keys((await jsonOf(cwd, ...argv)) as object).filter(
        (key) => key !== 'version' && key !== '$schema',
      )
      const told = codes(documents.get(name)!).filter((code) => /^[a-z]+$/i.test(code))
      expect(new Set(told)).toEqual(new Set(keys))
    },
  )

  it.each(OF_BLOCKED)('tells the keys of %s', async (name) => {
    const script = name === 'reopen' ? 'echo 1 > made' : 'false'
    const cwd = repository({ 'T-001': script }, { retries: 0 })
    await run(cwd)
    const text = name === 'answer' ? ['MIT'] : []
    const { stdout } = await ralph([name.split(' ')[0]!, '1', ...text, '--json'], {
      cwd,
      env: { ...env, EDITOR: 'true' },
    })
    expect(codes(documents.get(name)!)).toEqual(Object.keys(JSON.parse(stdout) as object).slice(1))
  })

  it.each(OF_RUN)('tells the keys of %s', async (name) => {
    const cwd = repository({ 'T-001': 'true' })
    mkdirSync(join(cwd, '.ralph'))
    const control = new Control()
    if (name === 'resume') control.pause()
    const close = await openControlDoor(
      runFolder(cwd),
      env,
      controlAnswers(control, () => ['T-001']),
    )
    const id = name === 'skip' ? ['1'] : []
    const { stdout } = await by(cwd, name, ...id, '--json')
    close()
    expect(codes(documents.get(name)!)).toEqual(Object.keys(JSON.parse(stdout) as object).slice(1))
  })

  it('shows a task with all of its keys', async () => {
    const { stdout } = await by(repository({ 'T-001': 'true' }), 'list', '--json')
    const [example = ''] = [...guide.matchAll(/```json\n(.+?)```/gs)].map((match) => match[1]!)
    const { tasks } = JSON.parse(stdout) as { tasks: object[] }
    expect(Object.keys(JSON.parse(example) as object)).toEqual(Object.keys(tasks[0]!))
  })
})
