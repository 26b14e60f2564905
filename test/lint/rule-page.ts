import type { Rule } from '../../src/backlog/lint/rule.ts'
import type { Example, ExampleFile, RuleDoc } from './rule-doc.ts'

/** The page of a rule in `docs/lint/`. */
export function rulePage(rule: Rule, doc: RuleDoc): string {
  const right = doc.examples.filter((example) => example.expected.length === 0)
  const wrong = doc.examples.filter((example) => example.expected.length > 0)
  return [
    `# ${rule.name}`,
    kindOf(rule, doc),
    doc.about,
    '## Wrong',
    ...wrong.flatMap(exampleBlocks),
    '## Right',
    ...right.flatMap(exampleBlocks),
    '## How to fix it',
    `${doc.fix}\n`,
  ].join('\n\n')
}

/** The list of all rules, `docs/lint/README.md`. */
export function indexPage(rules: readonly { rule: Rule; doc: RuleDoc }[]): string {
  const rows = rules.map(({ rule, doc }) => {
    const about = /^[\s\S]*?[.](?=\s|$)/.exec(doc.about)?.[0].replaceAll('\n', ' ')
    return `| [${rule.name}](${rule.name}.md) | ${rule.severity} | ${isMended(doc) ? 'yes' : ''} | ${about} |`
  })
  return [
    '# What `ralph lint` checks',
    'An error makes `ralph lint` exit with 1; a warning does not. Each page shows what is wrong, what is right and how to fix it.\nThese pages are made from the rules themselves, in `src/backlog/lint/rules/`.\n\nFiles of disciplines and features are checked as well, whether or not a task names them. Their problems are reported as `bad-discipline` or `bad-feature`: a field or a section that is probably misspelled (a warning), an agent that ralph does not know, a path that leads out of the repository, servers or frontmatter that cannot be read, a file that is not text. [The prompt](../prompts.md) says what they may contain.',
    ['| rule | is | fixed by `--fix` | finds |', '|---|---|---|---|', ...rows, ''].join('\n'),
  ].join('\n\n')
}

function kindOf(rule: Rule, doc: RuleDoc): string {
  const kind = rule.severity === 'error' ? 'An error' : 'A warning'
  return isMended(doc) ? `${kind}, fixed by \`ralph lint --fix\`.` : `${kind}.`
}

function isMended(doc: RuleDoc): boolean {
  return doc.examples.some((example) => example.fixed.length > 0)
}

function exampleBlocks({ caption, files, expected, fixed }: Example): string[] {
  return [
    ...(caption ? [caption] : []),
    ...files.flatMap(fileBlocks),
    ...(expected.length > 0 ? [fence('text', expected.join('\n'))] : []),
    ...(fixed.length > 0 ? ['After `ralph lint --fix`:', ...fixed.flatMap(fileBlocks)] : []),
  ]
}

function fileBlocks({ name, text }: ExampleFile): string[] {
  return [`\`${name}\``, fence('markdown', text.replace(/\n$/, ''))]
}

function fence(language: string, text: string): string {
  return ['```' + language, text, '```'].join('\n')
}
