import { readFileSync } from 'node:fs'
import type { LintContext } from '../../src/backlog/lint/rule.ts'

/** The page of a rule in `docs/lint/`, which holds the examples that the rule is tested with. */
export interface RulePage {
  /** The first paragraph: the severity, and what is wrong. */
  readonly about: string
  /** How to put it right. */
  readonly fix: string
  readonly wrong: readonly Example[]
  readonly right: readonly Example[]
}

/** A backlog, and what the rule says of it. */
export interface Example {
  readonly context: LintContext
  readonly files: readonly ExampleFile[]
  /** Diagnostics as `ralph lint` prints them; none where the backlog is right. */
  readonly expected: readonly string[]
  /** The files that `--fix` changes, as it leaves them. */
  readonly fixed: readonly ExampleFile[]
}

export interface ExampleFile {
  readonly name: string
  readonly text: string
}

/** Reads the page of a rule. */
export function readRulePage(name: string): RulePage {
  const page = readFileSync(new URL(`../../docs/lint/${name}.md`, import.meta.url), 'utf8')
  const [head = '', wrong = '', right = '', fix = ''] = page.split(/^## (?:Wrong|Right|Fix)\n/m)
  if (!head.startsWith(`# ${name}\n`)) throw new Error(`docs/lint/${name}.md is not headed "# ${name}"`)
  return {
    about: head.slice(head.indexOf('\n')).trim(),
    fix: fix.trim(),
    wrong: examplesIn(wrong),
    right: examplesIn(right),
  }
}

/** A fence, a hidden context, or a paragraph. */
const BLOCK = /^```(\w+)\n([^]*?)^```$|^<!-- context: (.*) -->$|^(\S.*)$/gm
const FIXED = 'After `ralph lint --fix`:'
const FIRST = 'T-001.md'

/** Files are named above their texts, but for one T-001.md; any other paragraph begins the next example. */
function examplesIn(section: string): Example[] {
  const examples: { -readonly [Key in keyof Example]: Example[Key] }[] = []
  let [name, isFixed] = [FIRST, false]
  for (const [, language, body = '', context, paragraph = ''] of section.matchAll(BLOCK)) {
    const named = /^`(\S+\.md)`$/.exec(paragraph)?.[1]
    if (examples.length === 0 || (paragraph !== '' && paragraph !== FIXED && named === undefined)) {
      examples.push({ context: {}, files: [], expected: [], fixed: [] })
      name = FIRST
      isFixed = false
    }
    const example = examples.at(-1)!
    if (context !== undefined) example.context = JSON.parse(context) as LintContext
    if (paragraph === FIXED) isFixed = true
    if (named !== undefined) name = named
    if (language === 'text') example.expected = body.split('\n').filter(Boolean)
    if (language !== 'markdown') continue
    const file = { name, text: body }
    if (isFixed) example.fixed = [...example.fixed, file]
    else example.files = [...example.files, file]
  }
  return examples
}
