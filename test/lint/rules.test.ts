import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import type { LintContext } from '../../src/backlog/lint/rule.ts'
import { lint } from '../../src/backlog/lint/lint.ts'
import { RULES } from '../../src/backlog/lint/rules.ts'
import { UNREAD_RULE } from '../../src/config/unread.ts'
import { LIBRARY_RULES } from '../../src/prompt/library.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { fixTexts } from './fix-texts.ts'
import { readRulePage, type ExampleFile } from './rule-page.ts'

/** A line as `ralph lint` prints it. */
function printed({ file, line, column, severity, rule, message }: Diagnostic): string {
  return `${file}:${line}:${column} ${severity} ${rule} ${message}`
}

async function tasksFrom(files: readonly ExampleFile[]) {
  return Promise.all(files.map(({ name, text }) => parseTask({ file: `docs/tasks/${name}`, text })))
}

async function fixedFiles(files: readonly ExampleFile[], context: LintContext): Promise<ExampleFile[]> {
  const texts = Object.fromEntries(files.map(({ name, text }) => [`docs/tasks/${name}`, text]))
  const fixed = Object.entries(await fixTexts(texts, context))
  return fixed.map(([file, text]) => ({ name: file.slice('docs/tasks/'.length), text }))
}

describe.each(RULES)('$name', (rule) => {
  const { about, fix, wrong, right } = readRulePage(rule.name)
  const examples = [...wrong, ...right]

  test.each(examples)('says what its example %# says', async ({ files, context, expected }) => {
    const found = lint(await tasksFrom(files), context).filter((diagnostic) => diagnostic.rule === rule.name)
    expect(found.map(printed)).toEqual(expected)
  })

  test.each(examples)('leaves example %# as it should be', async ({ files, context, fixed }) => {
    const own = (await fixedFiles(files, context)).filter((file) =>
      fixed.some(({ name }) => name === file.name),
    )
    expect(own).toEqual(fixed)
    const after = files.map((file) => own.find(({ name }) => name === file.name) ?? file)
    const left = lint(await tasksFrom(after), context).filter((diagnostic) => diagnostic.rule === rule.name)
    if (fixed.length > 0) expect(left).toEqual([])
  })

  test('has a page that shows what is right, what is wrong, and how to fix it', () => {
    expect(wrong.every(({ expected }) => expected.length > 0)).toBe(true)
    expect(right.every(({ expected }) => expected.length === 0)).toBe(true)
    expect([wrong.length, right.length]).not.toContain(0)
    expect(fix).not.toBe('')
    const isFixed = wrong.some(({ fixed }) => fixed.length > 0)
    const kind = rule.severity === 'error' ? 'An error' : 'A warning'
    expect(about).toContain(`${kind}${isFixed ? ', fixed by `ralph lint --fix`' : ''}. `)
  })
})

test('every rule has a page, and nothing else has one', () => {
  const names = RULES.map(({ name }) => name)
  const others = [...LIBRARY_RULES, UNREAD_RULE].map(({ name }) => name)
  const all = [...names, ...others, 'README'].map((name) => `${name}.md`)
  const pages = readdirSync(new URL('../../docs/lint/', import.meta.url))
  expect(names).toEqual(names.toSorted())
  expect(pages.sort()).toEqual(all.sort())
})
