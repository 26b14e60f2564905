import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import type { LintContext } from '../../src/backlog/lint/rule.ts'
import { lint } from '../../src/backlog/lint/lint.ts'
import { RULES } from '../../src/backlog/lint/rules.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { fixTexts } from './fix-texts.ts'
import { readRuleDoc, type ExampleFile } from './rule-doc.ts'
import { indexPage, rulePage } from './rule-page.ts'

const DOCS = new URL('../../docs/lint/', import.meta.url)
const SOURCES = new URL('../../src/backlog/lint/rules/', import.meta.url)
const names = RULES.map((rule) => rule.name)

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
  const doc = readRuleDoc(rule.name)

  test.each(doc.examples)('says what its example %# says', async ({ files, context, expected }) => {
    const found = lint(await tasksFrom(files), context).filter((diagnostic) => diagnostic.rule === rule.name)
    expect(found.map(printed)).toEqual(expected)
  })

  test.each(doc.examples)('leaves example %# as it should be', async ({ files, context, fixed }) => {
    const own = (await fixedFiles(files, context)).filter((file) =>
      fixed.some(({ name }) => name === file.name),
    )
    expect(own).toEqual(fixed)
    const after = files.map((file) => own.find(({ name }) => name === file.name) ?? file)
    const left = lint(await tasksFrom(after), context).filter((diagnostic) => diagnostic.rule === rule.name)
    if (fixed.length > 0) expect(left).toEqual([])
  })

  test('shows what is right, what is wrong, and how to fix it', async () => {
    expect(doc.examples.some(({ expected }) => expected.length > 0)).toBe(true)
    expect(doc.examples.some(({ expected }) => expected.length === 0)).toBe(true)
    expect(doc.fix).not.toBe('')
    await expect(rulePage(rule, doc)).toMatchFileSnapshot(fileURLToPath(new URL(`${rule.name}.md`, DOCS)))
  })
})

test('every rule is listed, by name, and has a page; nothing else has one', async () => {
  const filesIn = (folder: URL, end: string): string[] =>
    readdirSync(folder).flatMap((name) => (name.endsWith(end) ? [name.slice(0, -end.length)] : []))
  expect(names).toEqual(names.toSorted())
  expect(filesIn(SOURCES, '.ts').sort()).toEqual(names)
  const pages = indexPage(RULES.map((rule) => ({ rule, doc: readRuleDoc(rule.name) })))
  await expect(pages).toMatchFileSnapshot(fileURLToPath(new URL('README.md', DOCS)))
  expect(filesIn(DOCS, '.md').sort()).toEqual([...names, 'README'].sort())
})
