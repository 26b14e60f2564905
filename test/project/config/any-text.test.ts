import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { UserError } from '../../../src/base/errors.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { makeFolder } from '../../repository.ts'

const KEYS = [
  'tasks',
  'tiers',
  'gates',
  'name',
  'command',
  'commit',
  'digits',
  'aliases',
  'fields',
  'retries',
  '',
  '__proto__',
]
const key = fc.oneof(fc.constantFrom(...KEYS), fc.string({ unit: 'binary' }))
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.constantFrom(null, true, 0, 1, 'warn', '10m', {}, []),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}))
const syntax = fc.array(
  fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    "'",
    '\n',
    '  ',
    '- ',
    'tasks',
    'a',
    '1',
    '//',
    '/*',
    '#',
    '&a',
    '*a',
    '|',
    '---',
    '\t',
    '\u0000',
    '\uD800',
  ),
  { maxLength: 30 },
)

describe.each(['ralph.config.json', 'ralph.config.yaml', 'package.json'])('whatever stands in %s', (file) => {
  let root: string
  beforeAll(() => {
    root = makeFolder()
  })

  /** It is a configuration, or a person is told where it is wrong. */
  async function isUnderstood(text: string): Promise<void> {
    writeFileSync(join(root, file), text)
    const lines = text.split(/\r\n|\n|\r/).length
    try {
      const config = await loadConfig(root)
      expect(config.tiers.rows.Heavy.maxTurns).toBeGreaterThan(0)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      const places = [...error.message.matchAll(new RegExp(`^ *${file}:(\\d+):\\d+ `, 'gm'))]
      expect(places.length).toBeGreaterThan(0)
      for (const [, line] of places) expect(Number(line)).toBeLessThanOrEqual(lines)
    }
  }

  it('it is understood, or its mistakes are told', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (content) => {
        await isUnderstood(JSON.stringify(file === 'package.json' ? { ralph: content } : content, null, 1))
      }),
      { numRuns: 150 },
    )
  })

  it('it is read, or told not to be what its name says', async () => {
    await fc.assert(
      fc.asyncProperty(syntax, async (parts) => {
        await isUnderstood(file === 'package.json' ? `{"ralph": ${parts.join('')}}` : parts.join(''))
      }),
      { numRuns: 250 },
    )
  })

  it.each(['[', '{"a":'])('however deep %s is nested', async (open) => {
    await isUnderstood(`{"ralph":${open.repeat(20_000)}`)
    const close = open === '[' ? ']' : '}'
    await isUnderstood(`{"ralph":${open.repeat(20_000)}1${close.repeat(20_000)}}`)
  })
})
