import { lstatSync, readdirSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { parseGlob } from '../../base/glob.ts'
import { nativePath, pathWithin, whyOutside } from '../../base/paths.ts'
import { shortened } from '../../base/text.ts'
import type { Place } from '../../config/project.ts'
import { readText, type Desk } from './desk.ts'
import { topHeading, words as wordsOf } from './documents.ts'
import { readPlan, type Plan } from './plan-file.ts'
import type { PlanPorts } from './ports.ts'

/** The command line of a planning. */
export interface PlanWish {
  /** A wish in words, documents, or with `continues` and `aborts` the name of a plan. */
  readonly words: readonly string[]
  /** The text from standard input; null if it was not requested. */
  readonly input: string | null
  readonly continues: boolean
  readonly aborts: boolean
  readonly research: boolean
  readonly web: boolean
  readonly verifyTasks: boolean
  /** Whether its tasks are also written to a file for other tools. */
  readonly exports: boolean
}

/** The folders of a project's plans and decisions. Other tools for decisions use `.adr-dir`. */
export function planPlaces({ root, folders, config }: Place) {
  const named = readText(join(root, '.adr-dir'))?.trim().replace(/\/+$/, '') ?? ''
  if (named !== '' && whyOutside(named) !== null)
    throw new UserError(`.adr-dir names a folder outside of the project: ${named}`)
  return {
    root,
    plans: config.plan.dir,
    decisions: named === '' ? config.plan.decisions : named.replace(/^\.\//, ''),
    tasks: folders.first,
  }
}

/** The requested plan: an existing one, or a new one. */
export async function planAsked(wish: PlanWish, ports: PlanPorts, cwd: string): Promise<Plan> {
  const known = await knownPlans(ports)
  if (wish.continues || wish.aborts) return withOptions(namedPlan(wish, known), wish)
  const requested = newPlan(wish, ports, cwd)
  const before = known.plans.find((plan) => plan.status !== 'aborted' && isSame(plan, requested, wish))
  if (!before) {
    const taken = new Set([...known.broken.keys(), ...known.plans.map(({ slug }) => slug)])
    return { ...requested, slug: freeSlug(requested.slug, taken) }
  }
  const plan = withOptions(before, wish)
  if (before.wish === requested.wish) return plan
  // It had been made from another text.
  const isMade = before.status === 'done' || before.status === 'tasks'
  return { ...plan, wish: requested.wish, status: isMade ? 'requirements' : before.status }
}

/** A unique name for a plan, from its title: used in paths, and in `PRD Reference`. */
export function freeSlug(title: string, taken: ReadonlySet<string>): string {
  const slug = wordsOf(title) || 'plan'
  if (!taken.has(slug)) return slug
  let number = 2
  while (taken.has(`${slug}-${number}`)) number++
  return `${slug}-${number}`
}

/** The plan with the present command line's options added to its own. */
function withOptions(plan: Plan, { web, verifyTasks, exports }: PlanWish): Plan {
  // The tasks are written already, but the file for other tools is not.
  const status = exports && !plan.exports && plan.status === 'done' ? 'tasks' : plan.status
  return {
    ...plan,
    status,
    web: plan.web && web,
    verifyTasks: plan.verifyTasks || verifyTasks,
    exports: plan.exports || exports,
  }
}

/** The existing plans, and the problems of unreadable ones, by name. */
interface KnownPlans {
  readonly plans: readonly Plan[]
  readonly broken: ReadonlyMap<string, string>
}

/** The plans in their folder, and one that has only begun. */
async function knownPlans({ places, desk, note }: PlanPorts): Promise<KnownPlans> {
  const [plans, broken]: [Plan[], Map<string, string>] = [[], new Map()]
  for (const slug of desk.list(places.plans)) {
    const file = `${places.plans}/${slug}/plan.md`
    const text = desk.read(file)
    if (text === null) continue
    const plan = await readPlan(slug, text)
    if (typeof plan === 'string') broken.set(slug, `${file}: ${plan}`)
    else plans.push(plan)
  }
  const begun = note.read()?.plan
  if (begun && !broken.has(begun.slug) && !plans.some(({ slug }) => slug === begun.slug)) plans.push(begun)
  return { plans, broken }
}

function namedPlan({ words: [named], aborts }: PlanWish, { plans, broken }: KnownPlans): Plan {
  const list = plans.map(({ slug, status }) => `${slug} (${status})`).join(', ')
  const hint = list === '' ? 'Begin one: ralph plan "A REST API for user management"' : `There are: ${list}.`
  if (named !== undefined) {
    const problem = broken.get(named)
    if (problem !== undefined) throw new UserError(problem, 'Fix the file, or restore it from git.')
    const found = plans.find(({ slug }) => slug === named)
    if (!found) throw new UserError(`there is no plan ${named}`, hint)
    if (found.status === 'aborted')
      throw new UserError(`the plan ${named} was aborted`, `Set its Status in plan.md to go on with it.`)
    return found
  }
  const open = plans.filter(({ status }) => status !== 'done' && status !== 'aborted')
  const wanted = open.length === 0 && !aborts ? plans.filter(({ status }) => status === 'done') : open
  const [only] = wanted
  if (!only) throw new UserError('there is no plan to go on with', hint)
  if (wanted.length === 1) return only
  throw new UserError(
    `which plan? There are ${wanted.map(({ slug }) => slug).join(', ')}`,
    `ralph plan ${aborts ? '--abort' : '--continue'} ${only.slug}`,
  )
}

/** Whether two plans have the same source: documents by their files, standard input by its title, words by themselves. */
function isSame(plan: Plan, requested: Plan, { input }: PlanWish): boolean {
  const filesOf = ({ specs }: Plan): string =>
    specs
      .map(({ file }) => file)
      .toSorted()
      .join('\n')
  if (filesOf(plan) !== filesOf(requested)) return false
  if (requested.specs.length > 0) return true
  return input === null ? plan.wish === requested.wish : plan.slug === requested.slug
}

function newPlan(wish: PlanWish, { places, desk }: PlanPorts, cwd: string): Plan {
  const { words, input, research, web, verifyTasks, exports } = wish
  const files = input === null ? filesNamed(words, { root: places.root, cwd }) : []
  const source = files.length > 0 ? documentsSource(files, desk) : textSource(input ?? words.join(' '))
  return {
    ...source,
    slug: freeSlug(source.slug, new Set()),
    status: research ? 'research' : 'decisions',
    web,
    verifyTasks,
    exports,
    decisions: [],
    coverage: [],
    tasks: [],
  }
}

type PlanSource = Pick<Plan, 'slug' | 'title' | 'wish' | 'specs'>

const LONGEST_TITLE = 100

function textSource(text: string): PlanSource {
  const wish = text.replace(/\r\n?/g, '\n').replaceAll('\0', '').trim()
  if (wish === '')
    throw new UserError(
      'there is nothing to plan',
      'Give a wish in quotes, documents, or a text on standard input with -.',
    )
  // The first heading, else the first line.
  const line = topHeading(wish) ?? wish.split('\n', 1)[0]!
  const title = shortened(line.trim().replace(/\s+/g, ' '), LONGEST_TITLE)
  return { slug: title, title, wish, specs: [] }
}

function documentsSource(files: readonly string[], desk: Desk): PlanSource {
  const titles = files.map((file) => {
    const text = desk.read(file)
    if (text === null || text.includes('\0'))
      throw new UserError(`${file} is not a text`, 'Give documents in text, such as Markdown.')
    return topHeading(text) ?? basename(file)
  })
  const title =
    titles.length <= 3 ? titles.join(', ') : `${titles.slice(0, 2).join(', ')} and ${titles.length - 2} more`
  const slug = files.map((file) => basename(file, extname(file))).join(' ')
  return { slug, title, wish: '', specs: desk.known(files) }
}

/** The documents that words name, relative to the root; empty if they are a wish. */
function filesNamed(
  words: readonly string[],
  { root, cwd }: { root: string; cwd: string },
): readonly string[] {
  const found = words.map((word) => filesAt(word, cwd))
  const isWish =
    found.every((files) => files.length === 0) && !(words.length === 1 && looksLikePath(words[0]!))
  if (isWish) return []
  const missing = words.find((_, index) => found[index]!.length === 0)
  if (missing !== undefined)
    throw new UserError(`there is no file ${missing}`, 'A wish in words stands in quotes.')
  return [...new Set(found.flat())].map((path) => {
    const file = pathWithin(nativePath(root), nativePath(path))
    if (file === null)
      throw new UserError(
        `${path} is outside of the project`,
        'Plan from files inside of it, or give the text on standard input with -.',
      )
    return file
  })
}

function looksLikePath(word: string): boolean {
  return !/\s/.test(word) && (/\.(?:md|markdown|txt|adoc|rst)$/i.test(word) || word.includes('/'))
}

/** A file, the documents in a folder, or the files of a pattern that the shell has not expanded. */
function filesAt(word: string, cwd: string): readonly string[] {
  const path = resolve(cwd, word)
  const stats = statsOf(path)
  if (stats?.isFile()) return [path]
  if (stats?.isDirectory()) return documentsIn(path, (name) => name.toLowerCase().endsWith('.md'))
  const glob = /\s/.test(word) ? null : parseGlob(basename(word))
  if (!glob || parseGlob(word.slice(0, -basename(word).length))) return []
  return documentsIn(resolve(cwd, word, '..'), (name) => glob.matches(name))
}

function documentsIn(folder: string, isWanted: (name: string) => boolean): readonly string[] {
  if (!statsOf(folder)?.isDirectory()) return []
  const names = readdirSync(folder).filter((name) => isWanted(name) && statsOf(join(folder, name))?.isFile())
  return names.toSorted().map((name) => join(folder, name))
}

function statsOf(path: string): ReturnType<typeof lstatSync> {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
