import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { LintContext } from '../../src/backlog/lint/rule.ts'

/** What the doc comment of a rule says: the source of its page and of its tests. */
export interface RuleDoc {
  /** What is wrong, as Markdown. */
  readonly about: string
  /** How to put it right, as Markdown. */
  readonly fix: string
  readonly examples: readonly Example[]
}

/** A backlog, and what the rule says of it. */
export interface Example {
  /** A sentence above it, or nothing. */
  readonly caption: string
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

/** Reads the doc comment above the export of a rule's file. */
export function readRuleDoc(name: string): RuleDoc {
  const path = fileURLToPath(new URL(`../../src/backlog/lint/rules/${name}.ts`, import.meta.url))
  const comment = /\/\*\*\n([\s\S]*?)\n \*\/\nexport const /.exec(readFileSync(path, 'utf8'))?.[1]
  if (comment === undefined) throw new Error(`${name} has no doc comment above its export`)
  const text = comment.replaceAll(/^ \* ?/gm, '')
  const [about = '', ...tags] = text.split(/^@(?=fix|example)/m)
  return {
    about: about.trim(),
    fix: tags
      .filter((tag) => tag.startsWith('fix'))
      .map((tag) => tag.slice('fix'.length).trim())
      .join('\n'),
    examples: tags
      .filter((tag) => tag.startsWith('example'))
      .map((tag) => readExample(tag.slice('example'.length))),
  }
}

function readExample(text: string): Example {
  const fences = [...text.matchAll(/^```(\S+) ?([^\n]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language, info, body]) => ({
      kind: [language, info].join(' ').trim(),
      body: body!,
    }),
  )
  const filesOf = (kind: RegExp): ExampleFile[] =>
    fences.flatMap((fence) => {
      const name = kind.exec(fence.kind)?.[1]
      return name === undefined ? [] : [{ name, text: fence.body }]
    })
  const bodyOf = (kind: string): string => fences.find((fence) => fence.kind === kind)?.body ?? ''
  return {
    caption: text.slice(0, text.indexOf('```')).trim(),
    context: JSON.parse(bodyOf('json context') || '{}') as LintContext,
    files: filesOf(/^markdown (\S+)$/),
    expected: bodyOf('text').split('\n').filter(Boolean),
    fixed: filesOf(/^markdown (\S+) fixed$/),
  }
}
