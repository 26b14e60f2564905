import type { DecisionsAnswer, Mistake, RequirementsAnswer, ResearchAnswer } from './answers.ts'
import { isOnWeb, keyOf } from './documents.ts'

/** Finds mistakes in the findings of a plan that may use the web, or not. */
export function checkResearch(
  { findings }: ResearchAnswer,
  { web }: { readonly web: boolean },
): readonly Mistake[] {
  if (web) return []
  const message = 'this plan is made without the web: name a file of the repository'
  return findings.flatMap(({ source }, index) =>
    isOnWeb(source) ? [{ path: `findings[${index}].source`, message }] : [],
  )
}

/** Finds mistakes in proposed decisions. */
export function checkDecisions({ decisions }: DecisionsAnswer): readonly Mistake[] {
  return [
    ...repeatedKeys(decisions, 'decisions'),
    ...decisions.flatMap(({ options, recommended }, index): Mistake[] => {
      const path = `decisions[${index}]`
      if (options.length < 2)
        return [{ path: `${path}.options`, message: 'a decision has two options or more' }]
      const isThere = Number.isInteger(recommended) && recommended >= 0 && recommended < options.length
      const titles = new Set(options.map(({ title }) => title.trim().toLowerCase()))
      return [
        ...(titles.size < options.length
          ? [{ path: `${path}.options`, message: 'two options have one title' }]
          : []),
        ...(isThere
          ? []
          : [
              {
                path: `${path}.recommended`,
                message: `there is no option ${recommended}: they are 0 to ${options.length - 1}`,
              },
            ]),
      ]
    }),
  ]
}

/** Finds mistakes in requirements. */
export function checkRequirements({ sections }: RequirementsAnswer): readonly Mistake[] {
  if (sections.length === 0) return [{ path: 'sections', message: 'there are no requirements' }]
  return [
    ...repeatedKeys(sections, 'sections'),
    ...sections.flatMap(({ criteria }, index) => criteriaMistakes(criteria, `sections[${index}].criteria`)),
  ]
}

/** Keys that occur twice in a list. */
export function repeatedKeys(things: readonly { readonly key: string }[], name: string): readonly Mistake[] {
  const seen = new Set<string>()
  return things.flatMap(({ key }, index) => {
    const isRepeated = seen.has(keyOf(key))
    seen.add(keyOf(key))
    return isRepeated
      ? [{ path: `${name}[${index}].key`, message: `"${key}" is the key of another one, too` }]
      : []
  })
}

/** Criteria that nobody can check. */
export function criteriaMistakes(criteria: readonly string[], path: string): readonly Mistake[] {
  if (criteria.length === 0) return [{ path, message: 'there is nothing by which anybody can check it' }]
  return criteria.flatMap((criterion, index) =>
    isVague(criterion)
      ? [
          {
            path: `${path}[${index}]`,
            message: `"${criterion.trim()}" cannot be checked: say what a test or a person would see`,
          },
        ]
      : [],
  )
}

const FILLER =
  'a all and are as be been code do does everything feature function functionality has have in implementation in is it its looks must of runs should solution system task that the thing this to very will with work working works'
const PRAISE =
  'clean correct correctly expected fast fine good great high nice performant proper properly quality ready right robust secure tbd todo well'
const [SAYS_NOTHING, PRAISES] = [new Set(`${FILLER} ${PRAISE}`.split(' ')), new Set(PRAISE.split(' '))]

/** Whether it is general praise, or empty. */
function isVague(criterion: string): boolean {
  const words = criterion.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length === 0) return true
  return words.some((word) => PRAISES.has(word)) && words.every((word) => SAYS_NOTHING.has(word))
}
