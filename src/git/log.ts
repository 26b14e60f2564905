import type { Git } from './git.ts'
import type { Trailer } from './trailers.ts'

/** One commit of `git log`. */
export interface LogEntry {
  readonly hash: string
  readonly tree: string
  readonly parents: readonly string[]
  /** The ref that names it, if refs were requested. */
  readonly ref: string | null
  readonly authorName: string
  /** The address of the committer. */
  readonly committer: string
  /** When it was committed, in seconds since 1970. */
  readonly committedAt: number
  readonly subject: string
  /** The text between the subject and the trailers. */
  readonly body: string
  readonly trailers: readonly Trailer[]
}

interface LogQuery {
  /** Where to begin and what to leave out, in git's notation; HEAD by default. */
  readonly revisions?: readonly string[]
  /** Just these commits, without their history. */
  readonly commits?: readonly string[]
  /** Only commits with such a trailer line in the message, indented or not; with `reverts` those as well. */
  readonly withTrailer?: string
  /** Only commits that say that they undo another: see `revertedBy`. */
  readonly reverts?: boolean
  readonly since?: string
  /** Only commits that changed something in the folder of the door. */
  readonly hereOnly?: boolean
  /** With the ref that names each commit. */
  readonly refs?: boolean
  /** More options of git log, such as which refs to begin from. */
  readonly options?: readonly string[]
}

/** Reads history in one process, newest first. */
export async function readLog(git: Git, query: LogQuery = {}): Promise<readonly LogEntry[]> {
  const { commits } = query
  const stdin = commits && `${commits.join('\n')}\n`
  const { stdout } = await git.run(logArguments(query), stdin === undefined ? {} : { stdin })
  return parseLog(stdout.toString())
}

/** How git begins the line that names the commit to be undone. */
const REVERTS = 'This reverts commit '

/** A commit that another undoes, as the other names it. */
export interface Reverted {
  readonly commit: string
  /** For a merge, the parent that was kept: all that the merge brought to it is undone. */
  readonly onto: string | null
}

/** The commits that a commit says it undoes. */
export function revertedBy({ body }: LogEntry): readonly Reverted[] {
  if (!body.includes(REVERTS)) return []
  return [...body.matchAll(REVERTED)].map(([, commit = '', onto = null]) => ({ commit, onto }))
}

const REVERTED = /^This reverts commit ([0-9a-f]{7,64})(?:, reversing\s+changes made to ([0-9a-f]{7,64}))?/gm

/** The placeholder and the reader of each field are defined together, so that they always match. */
const FIELDS = {
  hash: '%H',
  tree: '%T',
  parents: '%P',
  ref: '%D',
  authorName: '%an',
  committer: '%ce',
  committedAt: '%ct',
  subject: '%s',
  message: '%B',
  trailers: '%(trailers:only,unfold,separator=%x1f,key_value_separator=%x1e)',
} as const satisfies Record<string, string>

const NAMES = Object.keys(FIELDS) as (keyof typeof FIELDS)[]

/** git reads all refs to name those of a commit, so it does only if they are requested. */
function formatOf({ refs }: LogQuery): string {
  return NAMES.map((name) => (name === 'ref' && !refs ? '' : FIELDS[name])).join('%x00')
}

function logArguments(query: LogQuery): string[] {
  const args = [
    'log',
    '-z',
    `--format=${formatOf(query)}%x00`,
    '--no-show-signature',
    '--no-color',
    '--encoding=UTF-8',
    ...(query.refs ? ['--decorate=full'] : []),
  ]
  args.push(...patternArguments(query))
  if (query.since !== undefined) args.push(`--since=${query.since}`)
  if (query.hereOnly) args.push('--full-history')
  if (query.commits) return [...args, '--no-walk', '--stdin']
  const paths = query.hereOnly ? ['.'] : []
  return [
    ...args,
    ...(query.options ?? []),
    '--end-of-options',
    ...(query.revisions ?? ['HEAD']),
    '--',
    ...paths,
  ]
}

/** One pattern, with blanks instead of a class: git searches for several patterns, or a class, more slowly. */
function patternArguments({ withTrailer, reverts }: LogQuery): readonly string[] {
  if (withTrailer === undefined) return reverts ? ['--fixed-strings', `--grep=${REVERTS}`] : []
  const trailer = `[ \t]*${withTrailer}: `
  return ['--extended-regexp', `--grep=^(${reverts ? `${trailer}|${REVERTS}` : trailer})`]
}

/** A NUL ends each field, and one more ends each commit; a commit's text cannot contain one. */
function parseLog(output: string): readonly LogEntry[] {
  const values = output.split('\0')
  const entries: LogEntry[] = []
  for (let at = 0; at + NAMES.length < values.length; at += NAMES.length + 1) {
    const commit = {} as Record<keyof typeof FIELDS, string>
    for (let i = 0; i < NAMES.length; i++) commit[NAMES[i]!] = values[at + i] ?? ''
    entries.push(entryOf(commit))
  }
  return entries
}

function entryOf(fields: Record<keyof typeof FIELDS, string>): LogEntry {
  const trailers = parseTrailers(fields.trailers)
  return {
    hash: fields.hash,
    tree: fields.tree,
    parents: fields.parents.split(' ').filter(Boolean),
    ref: /refs\/ralph\/[^,)]+/.exec(fields.ref)?.[0] ?? null,
    authorName: fields.authorName,
    committer: fields.committer,
    committedAt: Number(fields.committedAt),
    subject: fields.subject,
    body: bodyOf(fields.message, trailers.length > 0),
    trailers,
  }
}

function parseTrailers(text: string): readonly Trailer[] {
  if (!text) return []
  return text.split('\u001f').map((pair) => {
    const [key = '', value = ''] = pair.split('\u001e')
    return { key: key.trim(), value: value.trim() }
  })
}

/** The message without its first paragraph, the subject, and without the last one if that is the trailers. */
function bodyOf(message: string, hasTrailers: boolean): string {
  const text = message.trim()
  const subjectEnd = text.search(/\n[ \t]*\n/)
  if (subjectEnd < 0) return ''
  const below = text.slice(subjectEnd).trim()
  if (!hasTrailers) return below
  const lastParagraph = [...below.matchAll(/\n[ \t]*\n/g)].at(-1)
  return lastParagraph ? below.slice(0, lastParagraph.index).trim() : ''
}
