import { RULES } from '../../src/backlog/lint/rules.ts'
import { readRulePage } from '../lint/rule-page.ts'

/** The part of docs/lint/README.md that lists the rules. */
export function lintBlock(): string {
  const linked = (isWanted: (rule: (typeof RULES)[number]) => boolean): string =>
    RULES.filter(isWanted)
      .map(({ name }) => `[${name}](${name}.md)`)
      .join(', ')
  return [
    `**Errors**: ${linked(({ severity }) => severity === 'error')}`,
    `**Warnings**: ${linked(({ severity }) => severity === 'warning')}`,
    `**Fixed by \`--fix\`**: ${linked(({ name }) => readRulePage(name).wrong.some(({ fixed }) => fixed.length > 0))}`,
  ].join('\n\n')
}
