import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { readDiscipline } from '../../src/prompt/discipline.ts'
import { readFeature } from '../../src/prompt/feature.ts'
import { PART_NAMES, parseTemplate } from '../../src/prompt/template.ts'

const docs = readFileSync(new URL('../../docs/prompts.md', import.meta.url), 'utf8')

/** What stands in the first fence below a heading. */
function example(heading: string): string {
  const below = docs.slice(docs.indexOf(`\n## ${heading}`))
  return /^(`{3,})\w*\n([\s\S]*?)^\1$/m.exec(below)?.[2] ?? ''
}

describe('docs/prompts.md', () => {
  it('has every part in its place', () => {
    const rows = [...docs.matchAll(/^\| `([a-z]+)` \|/gm)].map((match) => match[1])
    expect(rows).toEqual(PART_NAMES)
  })

  it('shows a discipline, a feature and a template that are read as it says', async () => {
    const discipline = await readDiscipline('frontend', example('Disciplines'))
    expect(discipline).toMatchObject({ title: 'Frontend engineer', model: 'a-large-one', problems: [] })
    expect(Object.keys(discipline.mcpServers)).toEqual(['browser'])
    const feature = await readFeature('auth', example('Features'))
    expect(feature).toMatchObject({ knowledge: ['docs/sessions.md', 'docs/threats.md'], acronym: 'AUTH' })
    expect(parseTemplate(example('A template'), 'docs/prompts/task.md').lines).toHaveLength(13)
  })

  it('says the numbers that hold where nothing is configured', () => {
    expect(JSON.parse(example('Bounds'))).toEqual({ prompt: DEFAULTS.prompt })
  })
})
