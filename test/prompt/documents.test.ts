import { describe, expect, it } from 'vitest'
import { readDiscipline } from '../../src/prompt/discipline.ts'
import { readFeature } from '../../src/prompt/feature.ts'
import { DISCIPLINES, FEATURES, findDiscipline, findFeature, namesIn } from '../../src/prompt/library.ts'
import { makeProject } from './project.ts'

describe('a discipline', () => {
  it('is read from a document in the style of a task', async () => {
    const source =
      '# Backend engineer\n\n- **Skills**: SQL, Rust、Kafka\n- **Agent**: codex\n- **Model**: large\n- **Icon**: 🦀\n- **Color**: #f00\n- **Acronym**: BE\n\nOlder hands first.\n\n## Persona\nCareful.\n\n## Conventions\n- No panics\n\n## MCP Servers\n```json\n{"db":{"command":"db"}}\n```\n\n## Reviews\nTwo eyes.\n'
    expect(await readDiscipline('backend', source)).toEqual({
      name: 'backend',
      title: 'Backend engineer',
      skills: ['SQL', 'Rust', 'Kafka'],
      agent: 'codex',
      model: 'large',
      icon: '🦀',
      color: '#f00',
      acronym: 'BE',
      persona: 'Careful.',
      conventions: '- No panics\n\nOlder hands first.\n\n## Reviews\nTwo eyes.',
      mcpServers: { db: { command: 'db', args: [], env: {} } },
      mentions: [{ kind: 'agent', text: 'codex', offset: source.indexOf('codex') }],
      problems: [],
    })
  })

  it('may be an empty file, and in any dialect', async () => {
    expect(await readDiscipline('x', '')).toMatchObject({
      title: 'x',
      skills: [],
      persona: '',
      conventions: '',
      problems: [],
    })
    const dialect =
      '\ufeff---\nskills: [Go, SQL]\n---\r\n# Ops\r\n\r\n* colour: red\r\n\r\nOlder hands first.\r\n\r\n## persona\r\nCalm.\r\n'
    expect(await readDiscipline('ops', dialect)).toMatchObject({
      title: 'Ops',
      color: 'red',
      persona: 'Calm.',
      conventions: 'Older hands first.',
    })
  })

  it('with servers that cannot be read says so', async () => {
    const { mcpServers, problems } = await readDiscipline('x', '# X\n\n## MCP Servers\nsoon\n')
    expect(mcpServers).toEqual({})
    expect(problems).toEqual([
      { severity: 'error', offset: 5, message: 'expected the servers as a JSON object in a fence' },
    ])
  })
})

describe('a feature', () => {
  it('is read from a document in the style of a task', async () => {
    const source =
      '# Payments\n\n- **Knowledge**: `docs/pay.md`, docs/tax.md (EU)\n- **Context**: src/pay/\n- **Acronym**: PAY\n\n## Description\nMoney.\n\n```\nopen\n\n'
    expect(await readFeature('payments', source)).toEqual({
      name: 'payments',
      title: 'Payments',
      knowledge: ['docs/pay.md', 'docs/tax.md'],
      context: ['src/pay/'],
      acronym: 'PAY',
      description: 'Money.\n\n```\nopen\n```',
      mentions: ['docs/pay.md', 'docs/tax.md', 'src/pay/'].map((text) => ({
        kind: 'path',
        text,
        offset: source.indexOf(text),
      })),
      problems: [],
    })
  })
})

describe('a name', () => {
  const project = () =>
    makeProject({
      'docs/disciplines/backend.md': '# B\n',
      'docs/disciplines/frontend.md': '# F\n',
      'docs/disciplines/notes.txt': '',
      'docs/secret.md': '# S\n',
    })

  it('leads to its file, in any case', async () => {
    expect(await findDiscipline(project().root, 'Backend')).toMatchObject({
      value: { name: 'backend', title: 'B' },
      warnings: [],
    })
  })

  it('without a file leads to the closest one', async () => {
    const missing = (what: string, name: string, hint = '') => ({
      value: null,
      warnings: [`there is no ${what} ${name}: docs/${what}s/${name}.md does not exist${hint}`],
    })
    const hint = '; did you mean backend?'
    expect(await findDiscipline(project().root, 'bakcend')).toEqual(missing('discipline', 'bakcend', hint))
    expect(await findDiscipline(project().root, '../secret')).toEqual(missing('discipline', '../secret'))
    expect(await findFeature(project().root, 'payments')).toEqual(missing('feature', 'payments'))
  })

  it('is one of those that have a file', async () => {
    expect(namesIn(project().root, DISCIPLINES)).toEqual(['backend', 'frontend'])
    expect(namesIn(project().root, FEATURES)).toEqual([])
  })
})
