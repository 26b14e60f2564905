import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { UserError } from '../../../src/base/errors.ts'
import { DEFAULTS } from '../../../src/config/defaults.ts'
import { findConfig, loadConfig } from '../../../src/config/load.ts'
import { makeFolder, put } from '../../repository.ts'

let root: string

beforeEach(() => {
  root = makeFolder()
})

function write(file: string, content: unknown): void {
  put(root, { [file]: typeof content === 'string' ? content : JSON.stringify(content) })
}

/** What a person is told about a configuration that cannot be used. */
async function complaint(file: string, content: unknown): Promise<string> {
  write(file, content)
  const error: unknown = await loadConfig(root).catch((thrown: unknown) => thrown)
  if (!(error instanceof UserError)) throw new Error('loadConfig took it', { cause: error })
  expect(error.exitCode).toBe(2)
  return error.message
}

describe('a project without a configuration', () => {
  it('has the defaults', async () => {
    expect(await loadConfig(root)).toEqual(DEFAULTS)
  })

  it('may have a package.json that says nothing of ralph, names something else so, or does not parse', async () => {
    for (const text of [
      '{"name":"ralph"}',
      '{"scripts":{"x":"ralph"}}',
      '{"name":"ralph",,}',
      '[]',
      'null',
      '',
    ]) {
      write('package.json', text)
      expect(await loadConfig(root)).toEqual(DEFAULTS)
    }
  })
})

describe('a configuration', () => {
  it.each([
    ['ralph.config.json', '{ "retries": 1, "stallTimeout": "10m" }'],
    ['ralph.config.json', '\uFEFF{ "retries": 1, "stallTimeout": 600 }'],
    ['ralph.config.jsonc', '// ours\n{\n  "retries": 1, /* few */\n  "stallTimeout": "600",\n}\n'],
    ['ralph.config.yaml', '# ours\nretries: 1\nstallTimeout: 10m\n'],
    ['ralph.config.yml', 'retries: 1\r\nstallTimeout: 600\r\n'],
    ['package.json', '{ "name": "shop", "ralph": { "retries": 1, "stallTimeout": "10m" } }'],
  ])('is read from %s', async (file, text) => {
    write(file, text)
    expect(findConfig(root)?.file).toBe(file)
    expect(await loadConfig(root)).toEqual({ ...DEFAULTS, retries: 1, stallSeconds: 600 })
  })

  it.each([
    ['ralph.config.json', '{}'],
    ['ralph.config.yaml', ''],
    ['ralph.config.yaml', '# nothing yet\n'],
    ['package.json', '{ "ralph": {} }'],
  ])('that says nothing, in %s, has the defaults', async (file, text) => {
    write(file, text)
    expect(await loadConfig(root)).toEqual(DEFAULTS)
  })

  it('keeps the defaults of a table of which it names some keys', async () => {
    write('ralph.config.json', { tiers: { Heavy: { timeout: '1h', model: 'big' } }, commit: { digits: 5 } })
    const config = await loadConfig(root)
    expect(config.tiers.rows.Heavy).toEqual({
      ...DEFAULTS.tiers.rows.Heavy,
      timeoutSeconds: 3600,
      model: 'big',
    })
    expect(config.tiers.rows.Light).toEqual(DEFAULTS.tiers.rows.Light)
    expect(config.commit).toEqual({ ...DEFAULTS.commit, digits: 5 })
  })

  it('fills in what a gate leaves out', async () => {
    write('ralph.config.json', { gates: [{ name: 'test', command: 'make test' }] })
    const [gate] = (await loadConfig(root)).gates ?? []
    expect(gate).toEqual({ name: 'test', command: 'make test', required: true, timeoutSeconds: 600 })
  })

  it('knows a gate that is required once it was green', async () => {
    write('ralph.config.json', { gates: [{ name: 'lint', command: 'make lint', required: 'if-green' }] })
    expect((await loadConfig(root)).gates).toMatchObject([{ required: false, ifGreen: true }])
  })

  it.each(['../shared/**', '/srv/**', '.git/hooks/*', 'a//b', '~/x', 'packages/../../x'])(
    'refuses a gate for paths that no tracked file can have: %s',
    async (pattern) => {
      write('ralph.config.json', { gates: [{ name: 'api', command: 'x', paths: ['src/**', pattern] }] })
      await expect(loadConfig(root)).rejects.toThrow(
        /^ralph\.config\.json:\d+:\d+ gates\[0\]\.paths\[1\]: expected /,
      )
    },
  )

  it('tells no gates from gates to be detected', async () => {
    write('ralph.config.json', { gates: [] })
    expect((await loadConfig(root)).gates).toEqual([])
  })

  it("keeps a team's own words", async () => {
    const fields = { Status: ['상태', 'Estado'], Depends: ['선행 작업'] }
    write('ralph.config.json', { aliases: { fields } })
    expect((await loadConfig(root)).aliases).toEqual({ fields, statuses: {}, sections: {}, tiers: {} })
  })

  it('may be that of simplicity-ralph, whose check is the gate', async () => {
    const theirs = { language: 'typescript', packageManager: 'bun', agent: 'claude', taskDir: 'x' }
    write('ralph.config.json', { ...theirs, qualityCheck: 'bun run check' })
    expect(await loadConfig(root)).toEqual({
      ...DEFAULTS,
      gates: [{ name: 'check', command: 'bun run check', required: true, timeoutSeconds: 600 }],
    })
    write('ralph.config.json', { ...theirs, qualityCheck: null })
    expect(await loadConfig(root)).toEqual(DEFAULTS)
  })

  it('may name keys that mean no dependency', async () => {
    write('ralph.config.json', { aliases: { fields: { Related: ['Siehe'] } } })
    expect((await loadConfig(root)).aliases.fields).toEqual({ Related: ['Siehe'] })
  })

  it('may name its schema, which is not part of it', async () => {
    write('ralph.config.json', { $schema: './node_modules/ralph-tasks/dist/ralph.config.schema.json' })
    expect(await loadConfig(root)).toEqual(DEFAULTS)
  })
})

describe('two configurations', () => {
  it('are an error that names both', async () => {
    write('ralph.config.yaml', 'retries: 1\n')
    expect(await complaint('ralph.config.json', {})).toBe(
      'There are two configurations: ralph.config.json and ralph.config.yaml.',
    )
    rmSync(join(root, 'ralph.config.yaml'))
    expect(await complaint('package.json', { ralph: {} })).toBe(
      'There are two configurations: ralph.config.json and the "ralph" key of package.json.',
    )
  })
})

describe('a wrong key', () => {
  it('is told with its place, the closest and those that there are', async () => {
    expect(await complaint('ralph.config.json', '{\n  "commit": {\n    "subjet": "x"\n  }\n}\n')).toBe(
      'ralph.config.json:3:5 unknown key "commit.subjet", did you mean "subject"? The keys here are subject, digits, seal',
    )
  })

  it('is told without a guess where nothing is close', async () => {
    expect(await complaint('ralph.config.yaml', 'retries: 1\nlogs:\n  verbosity: 3\n')).toBe(
      'ralph.config.yaml:3:3 unknown key "logs.verbosity"; the keys here are maxBytes',
    )
  })

  it('is told beside every other mistake, in the order of the file', async () => {
    const text = '{\n"agnet": "codex",\n"retries": "three",\n"permision": 1,\n"push": null\n}'
    const lines = (await complaint('ralph.config.json', text)).split('\n  ')
    expect(lines.map((line) => line.split(/[;,]/)[0])).toEqual([
      'ralph.config.json has 4 mistakes:',
      'ralph.config.json:2:1 unknown key "agnet"',
      'ralph.config.json:3:12 retries: expected a whole number of 0 or more',
      'ralph.config.json:4:1 unknown key "permision"',
      'ralph.config.json:5:9 push: expected true or false',
    ])
  })

  it('is found under the ralph key of package.json', async () => {
    expect(await complaint('package.json', '{\n  "ralph": {\n    "retrys": 1\n  }\n}')).toMatch(
      /^package\.json:3:5 unknown key "retrys", did you mean "retries"\?/,
    )
  })

  it('is seen where every object has something of that name', async () => {
    expect(await complaint('ralph.config.json', { toString: 1 })).toMatch(
      /^ralph\.config\.json:1:2 unknown key "toString"/,
    )
  })
})

describe('a wrong value', () => {
  it.each<[unknown, string]>([
    [[], '1:1 expected an object, found an empty list'],
    ['null', '1:1 expected an object, found null'],
    ['[1]', '1:1 expected an object, found a list'],
    [
      { tasks: '../tasks' },
      '1:10 tasks: expected a path inside the project, relative to its root, found "../tasks"',
    ],
    [{ tasks: '/t' }, '1:10 tasks: expected a path inside the project, relative to its root, found "/t"'],
    [
      { tasks: 'C:\\t' },
      String.raw`1:10 tasks: expected a path inside the project, relative to its root, found "C:\\t"`,
    ],
    [{ tasks: ' ' }, '1:10 tasks: expected a text that is not empty, found " "'],
    [
      { tasks: { id: 'TASK' } },
      '1:16 tasks.id: expected letters, digits, - and _, and then {n}, as in "TASK-{n}", found "TASK"',
    ],
    [
      { tasks: { id: ['T-{n}', 'docs/T-{n}'] } },
      '1:25 tasks.id[1]: expected letters, digits, - and _, and then {n}, as in "TASK-{n}", found "docs/T-{n}"',
    ],
    [
      { tasks: { id: ['T-{n}', 't-{n}'] } },
      '1:16 tasks.id: expected patterns of which no two match one name, such as t-1.md, found a list',
    ],
    [
      { tasks: 'docs/*/tasks' },
      '1:10 tasks: expected a folder, or docs/tasks/** for all folders below it, too, found "docs/*/tasks"',
    ],
    [{ tiers: [] }, '1:10 tiers: expected an object, found an empty list'],
    [{ mcpServers: [] }, '1:15 mcpServers: expected an object of names and servers, found an empty list'],
    [{ mcpServers: { db: {} } }, '1:21 mcpServers.db: the key "command" is missing'],
    [{ retries: 1.5 }, '1:12 retries: expected a whole number of 0 or more, found 1.5'],
    [{ retries: -1 }, '1:12 retries: expected a whole number of 0 or more, found -1'],
    [{ maxTasks: 0 }, '1:13 maxTasks: expected a whole number of 1 or more, found 0'],
    [{ maxTokens: -1 }, '1:14 maxTokens: expected a number of tokens from 1, like 500k or 3M, found -1'],
    [
      { maxTokensPerTask: '3 MB' },
      '1:21 maxTokensPerTask: expected a number of tokens from 1, like 500k or 3M, found "3 MB"',
    ],
    [{ budget: 0 }, '1:11 budget: expected a number of dollars above 0, found 0'],
    [{ permission: 'all' }, '1:15 permission: expected one of "edit", "full", "custom", found "all"'],
    [
      { permission: 'ful' },
      '1:15 permission: expected one of "edit", "full", "custom", found "ful", did you mean "full"?',
    ],
    [
      { agentArgs: ['-x'] },
      '1:14 agentArgs: expected none, as long as "permission" is not "custom", found a list',
    ],
    [
      { stallTimeout: 'soon' },
      '1:17 stallTimeout: expected a duration such as "90s", "20m" or "1h 30m", or a whole number of seconds, found "soon"',
    ],
    [{ gates: ['npm test'] }, '1:11 gates[0]: expected an object, found "npm test"'],
    [{ gates: [{ name: 'test' }] }, '1:11 gates[0]: the key "command" is missing'],
    [
      {
        gates: [
          { name: 'a', command: 'x' },
          { name: 'a', command: 'y' },
        ],
      },
      '1:46 gates[1].name: expected a name that no other gate has, found "a"',
    ],
    [
      { commit: { subject: '{ID} {title}' } },
      '1:22 commit.subject: expected a subject with no other slots than {id}, {title}, {milestone}, found "{ID} {title}"',
    ],
    [{ commit: { digits: 9 } }, '1:21 commit.digits: expected "auto" or a whole number from 4 to 8, found 9'],
    [
      { commit: { digits: '7' } },
      '1:21 commit.digits: expected "auto" or a whole number from 4 to 8, found "7"',
    ],
    [
      { aliases: { fields: { Status: ['State'], Depends: ['state'] } } },
      '1:53 aliases.fields.Depends[0]: expected a word that does not already stand for Status, found "state"',
    ],
    [
      { aliases: { fields: { Status: ['My_word'], Depends: ['my word'] } } },
      '1:55 aliases.fields.Depends[0]: expected a word that does not already stand for Status, found "my word"',
    ],
    [
      { aliases: { statuses: { TODO: ['done'] } } },
      '1:33 aliases.statuses.TODO[0]: expected a word that does not already stand for DONE, found "done"',
    ],
    [
      '{"aliases": {"sections": {"Hints": ["Depends"]}}}',
      '1:37 aliases.sections.Hints[0]: expected a word that does not already stand for Depends, found "Depends"',
    ],
    [
      '{"aliases": {"fields": {"Priority": ["Dependencies"]}}}',
      '1:38 aliases.fields.Priority[0]: expected a word that does not already stand for Depends, found "Dependencies"',
    ],
  ])('is told with its place and what was expected: %j', async (content, expected) => {
    expect(await complaint('ralph.config.json', content)).toBe(`ralph.config.json:${expected}`)
  })

  it('in YAML too', async () => {
    expect(await complaint('ralph.config.yaml', 'tiers:\n  Light:\n    turns: many\n')).toBe(
      'ralph.config.yaml:3:12 tiers.Light.turns: expected a whole number of 1 or more, found "many"',
    )
  })
})

describe('an agent that there is not', () => {
  const agents =
    'expected one of "claude", "codex", "gemini", "opencode", "copilot", "qwen", "continue", "command", "script"'

  it.each([
    ['ralph.config.json', '{ "agent": "cluade" }', '1:12 agent', '"cluade", did you mean "claude"?'],
    ['ralph.config.jsonc', '{\n  "agents": ["claude", "acme"],\n}', '2:24 agents[1]', '"acme"'],
    ['ralph.config.yaml', 'fallback:\n  - codez\n', '2:5 fallback[0]', '"codez", did you mean "codex"?'],
    [
      'package.json',
      '{\n  "ralph": { "tiers": { "Heavy": { "agent": "Codex" } } }\n}',
      '2:45 tiers.Heavy.agent',
      '"Codex", did you mean "codex"?',
    ],
  ])('is refused at its place: %s %j', async (file, text, where, found) => {
    expect(await complaint(file, text)).toBe(`${file}:${where}: ${agents}, found ${found}`)
  })

  it('is none of those that there are', async () => {
    write('ralph.config.json', { agent: 'script', agents: ['qwen'], fallback: ['command'] })
    expect(await loadConfig(root)).toMatchObject({ agent: 'script', agents: ['qwen'], fallback: ['command'] })
  })
})

it('tells of a word for a name that there is not, whatever stands there', async () => {
  const text = JSON.stringify({ aliases: { fields: { tasks: '' } } })
  expect(await complaint('ralph.config.json', text)).toContain('1:23 unknown key "aliases.fields.tasks"')
})

describe('a file that cannot be read as what it is', () => {
  it.each([
    ['ralph.config.json', '{\n  "retries": 1\n  "push": true\n}', '3:3 not valid JSON: comma expected'],
    ['ralph.config.json', '{ "retries": 1', '1:15 not valid JSON: close brace expected'],
    ['ralph.config.json', '{\n"push": true,\n"push": false }', '3:1 the key "push" is given twice'],
    ['ralph.config.json', '', '1:1 not valid JSON: value expected'],
    ['package.json', '{ "ralph": { "retries" } }', '1:24 not valid JSON: colon expected'],
    ['ralph.config.json', '{"__proto__": {"retries": 1}}', '1:2 the key "__proto__" stands for nothing'],
    [
      'ralph.config.json',
      '{"retries": 1, "constructor": 2}',
      '1:16 the key "constructor" stands for nothing',
    ],
    [
      'ralph.config.yaml',
      'gates:\n  - name: a\n    prototype: b\n',
      '3:5 the key "gates[0].prototype" stands for nothing',
    ],
    ['ralph.config.yaml', 'retries: 1\n  push: true\n', '1:10 not valid YAML: '],
    ['ralph.config.yaml', 'push: true\npush: false\n', '2:1 not valid YAML: Map keys must be unique'],
    ['ralph.config.yaml', 'model: *a\n', '1:8 not valid YAML: Unresolved alias'],
    [
      'ralph.config.yaml',
      'push: true\n---\npush: false\n',
      '2:1 not valid YAML: expected one document, found another',
    ],
  ])('%s: %j', async (file, text, expected) => {
    expect(await complaint(file, text)).toContain(expected)
  })

  it('is said to be a folder', async () => {
    mkdirSync(join(root, 'ralph.config.json'))
    await expect(loadConfig(root)).rejects.toThrow('ralph.config.json cannot be read: it is a folder.')
  })

  it.skipIf(process.platform === 'win32')('is said to be a link that leads nowhere', async () => {
    symlinkSync('nowhere.json', join(root, 'ralph.config.json'))
    await expect(loadConfig(root)).rejects.toThrow(
      'ralph.config.json cannot be read: it is a link that leads nowhere.',
    )
  })

  it.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    'is said to be out of reach',
    async () => {
      write('ralph.config.json', {})
      chmodSync(join(root, 'ralph.config.json'), 0)
      await expect(loadConfig(root)).rejects.toThrow('ralph.config.json cannot be read: not allowed.')
    },
  )
})
