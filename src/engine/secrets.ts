import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { parseGlob } from '../base/glob.ts'
import { fewOf } from '../base/text.ts'
import { contentsOf } from '../git/contents.ts'
import type { Git } from '../git/git.ts'
import { storeText } from '../git/made-commit.ts'
import { MODES, type RawChange } from '../git/raw-changes.ts'
import { outcome, type Outcome } from './outcome.ts'

/** A secret in the work, and where it is; never the secret itself. */
interface Found {
  readonly change: RawChange
  readonly line: number
  readonly kind: string
  /** Whether it may be an example: then it is only named. */
  readonly isSure: boolean
}

/** What is wrong with the files that work adds or changes. */
export interface Inspected {
  /** Null if the work can be committed. */
  readonly outcome: Outcome | null
  /** What a person should know: `src/a.ts:3: a JSON Web Token`. */
  readonly noticed: readonly string[]
  /** Files that hold secrets, with those blanked; they replace them wherever the work is kept. */
  readonly blanked: ReadonlyMap<string, { readonly mode: string; readonly hash: string }>
}

/** What is searched for: the person's own secrets, and where anything may stand. */
export interface Searched {
  readonly values: readonly string[]
  readonly allow: readonly string[]
}

const [LARGE, TOO_LARGE] = [5_000_000, 50_000_000]

/** Looks for secrets and very large files in what work adds, which is in the folder if there is one. */
export async function inspect(
  git: Git,
  changes: readonly RawChange[],
  { values, allow }: Searched,
  folder: string | null,
): Promise<Inspected> {
  const made = changes.filter(({ kind, is }) => kind !== 'gone' && is.mode !== MODES.submodule)
  const sizes =
    folder === null
      ? await sizesOf(
          git,
          made.map(({ is }) => is.hash),
        )
      : made.map(({ path }) => sizeIn(folder, path))
  const over = (size: number): readonly string[] =>
    made.flatMap(({ path }, at) => (sizes[at]! > size ? [path] : []))
  const tooLarge = over(TOO_LARGE)
  const noticed = over(LARGE).map((path) => `${path}: over 5 MB`)
  if (tooLarge.length > 0)
    return { outcome: outcome('too-large', `over 50 MB: ${fewOf(tooLarge)}`), noticed, blanked: new Map() }
  const globs = allow.map((pattern) => ({ pattern, glob: parseGlob(pattern) }))
  const isAllowed = (path: string): boolean =>
    globs.some(({ pattern, glob }) => glob?.matches(path) ?? pattern === path)
  const read = made.filter(({ path }, at) => sizes[at]! <= LARGE && !UNREAD.test(path) && !isAllowed(path))
  const texts = await contentsOf(
    git,
    read.map(({ is }) => is.hash),
  )
  const textOf = ({ hash }: RawChange['is']): string => texts.get(hash)?.toString() ?? ''
  const isBinary = ({ is }: RawChange): boolean => textOf(is).slice(0, BEGINNING).includes('\0')
  noticed.push(...read.filter(isBinary).map(({ path }) => `${path}: binary`))
  const mayHold = (text: string): boolean =>
    keysIn(text).length > 0 || values.some((value) => text.includes(value))
  // What another file had was not made here: files are moved.
  const old = read.some(({ is }) => mayHold(textOf(is))) ? await textsBefore(git, changes) : []
  const known = new Set(old.flatMap((text) => keysIn(text).map(({ key }) => key)))
  const found = read.flatMap((change) => secretsIn(change, { old, known, is: textOf(change.is) }, values))
  const sure = found.filter(({ isSure }) => isSure)
  const places = (some: readonly Found[]): readonly string[] =>
    some.map(({ change, line, kind }) => `${change.path}:${line}: ${kind}`)
  noticed.push(...places(found.filter(({ isSure }) => !isSure)))
  if (sure.length === 0) return { outcome: null, noticed, blanked: new Map() }
  const blanked = new Map<string, RawChange['is']>()
  for (const { path, is } of new Set(sure.map(({ change }) => change)))
    blanked.set(path, { mode: is.mode, hash: await storeText(git, blank(textOf(is), values)) })
  const detail = `${places(sure).join('\n')}\n\nTake each out, and read it from where it is kept. The value is blanked in what is kept of this attempt.`
  return {
    outcome: outcome('secret', `it would commit a secret: ${fewOf(places(sure))}`, { detail }),
    noticed,
    blanked,
  }
}

function sizeIn(folder: string, path: string): number {
  return lstatSync(join(folder, path), { throwIfNoEntry: false })?.size ?? 0
}

// As git tells it.
const BEGINNING = 8000

/** The changed files as they were. */
async function textsBefore(git: Git, changes: readonly RawChange[]): Promise<readonly string[]> {
  const hashes = changes.flatMap(({ kind, was }) =>
    kind === 'new' || was.mode === MODES.submodule ? [] : was.hash,
  )
  const sizes = await sizesOf(git, hashes)
  const texts = await contentsOf(
    git,
    hashes.filter((_, at) => sizes[at]! <= LARGE),
  )
  return [...texts.values()].map(String)
}

async function sizesOf(git: Git, hashes: readonly string[]): Promise<readonly number[]> {
  if (hashes.length === 0) return []
  const stdin = hashes.map((hash) => `${hash}\n`).join('')
  const { stdout } = await git.run(['cat-file', '--batch-check=%(objectsize)', '--buffer'], { stdin })
  return stdout.toString().split('\n').map(Number)
}

/** A text without secrets. */
export function blank(text: string, values: readonly string[]): string {
  const known = values.reduce((rest, value) => rest.replaceAll(value, BLANK), text)
  return KEYS.reduce((rest, { pattern }) => rest.replaceAll(pattern, BLANK), known)
}

const BLANK = '<blanked by ralph>'

function secretsIn(
  change: RawChange,
  { old, known, is }: { old: readonly string[]; known: ReadonlySet<string>; is: string },
  values: readonly string[],
): readonly Found[] {
  const own = values.flatMap((value) => {
    const at = is.indexOf(value)
    const isNew = at !== -1 && !old.some((text) => text.includes(value))
    return isNew ? [{ at, kind: 'a secret of yours', isSure: true }] : []
  })
  const others = keysIn(is).flatMap(({ key, at, kind, isSure }) => {
    const isExample = EXAMPLES.test(change.path) || EXAMPLE_KEY.test(key)
    return known.has(key) ? [] : [{ at, kind, isSure: isSure && !isExample }]
  })
  const places = [...own, ...others].toSorted((a, b) => Number(b.isSure) - Number(a.isSure))
  return places.slice(0, MOST_NAMED).map(({ at, kind, isSure }) => {
    return { change, line: is.slice(0, at).split('\n').length, kind, isSure }
  })
}

const MOST_NAMED = 20

/** All that looks like a key, and where it is. */
function keysIn(text: string): readonly { key: string; at: number; kind: string; isSure: boolean }[] {
  return [KEYS, MAYBE].flatMap((kinds) =>
    kinds.flatMap(({ name, pattern }) =>
      Array.from(text.matchAll(pattern), ({ 0: key, index }) => {
        return { key, at: index, kind: name, isSure: kinds === KEYS }
      }),
    ),
  )
}

/** Files in which such texts mean nothing, or that nobody wrote. */
const UNREAD =
  /(?:^|\/)(?:[^/]*[-.]lock(?:\.\w+)?|[^/]*\.lockb?|go\.sum|npm-shrinkwrap\.json|package-lock\.json|pnpm-lock\.yaml)$|(?:^|\/)(?:node_modules|vendor|third_party|__snapshots__)\/|\.snap$|\.min\.\w+$|\.map$/

const EXAMPLES =
  /(?:^|\/)(?:tests?|__tests__|specs?|fixtures?|testdata|examples?|samples?|docs?)\/|[._-](?:test|spec|example|sample)\.|\.md$/i
const EXAMPLE_KEY = /EXAMPLE|example|XXXX|xxxx|0000000000|1234567890/

/** Keys that are nothing else. */
const KEYS: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: 'an AWS key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { name: 'a GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{60,})/g },
  { name: 'a Slack token', pattern: /\bxox[abprs]-[A-Za-z0-9-]{20,}/g },
  { name: 'a Stripe key', pattern: /\b[rs]k_live_[A-Za-z0-9]{20,}/g },
  {
    name: 'a private key',
    pattern:
      /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----BEGIN)[^]){0,20000}?-----END[^-\n]{0,40}-----)?/g,
  },
]

/** Texts that may be secrets. */
const MAYBE: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: 'a JSON Web Token', pattern: /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g },
  {
    name: 'a line as in .env',
    pattern:
      /^(?:export )?[A-Z][A-Z0-9_]{0,40}(?:SECRET|TOKEN|PASSWORD|API_KEY)[A-Z0-9_]{0,40}=["']?[^\s"'$<{]{12,}/gm,
  },
]
