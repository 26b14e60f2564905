import { withParts } from '../base/parts.ts'
import type { World } from '../base/world.ts'
import { UserError } from '../base/errors.ts'

/** Overrides `queue.url`, and may hold a password. */
export const QUEUE_VARIABLE = 'RALPH_QUEUE'

/** The queue that needs no server. */
export const EMBEDDED = 'embedded'

/** The URL without its password, so that it can be shown. */
export function shownUrl(url: string): string {
  const parsed = parse(url)
  if (parsed === null) return url
  parsed.password = ''
  for (const name of SECRETS) parsed.searchParams.delete(name)
  return parsed.href
}

/** Whether a URL has a password in it. */
export function hasPassword(url: string): boolean {
  const parsed = parse(url)
  return parsed !== null && (parsed.password !== '' || SECRETS.some((name) => parsed.searchParams.has(name)))
}

const SECRETS = ['password', 'sslpassword']

function parse(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null
}

/**
 * The queue to use: that of the command line (empty for the flag alone), else that of the
 * environment, else that of the configuration. Null if none names one.
 */
export function queueUrl(
  named: string | null,
  { env, configured }: { env: Readonly<Record<string, string | undefined>>; configured: string | null },
): string | null {
  const inEnvironment = env[QUEUE_VARIABLE]?.trim() || null
  if (named === null || named === '') return checked(inEnvironment ?? configured)
  if (hasPassword(named))
    throw new UserError(
      'a password on the command line is shown to everybody who lists processes',
      `Put the whole URL into ${QUEUE_VARIABLE} and give --queue alone, or the password into PGPASSWORD or ~/.pgpass.`,
    )
  // The same URL as in the environment, but without its password, means that of the environment.
  if (inEnvironment !== null && shownUrl(inEnvironment) === shownUrl(named)) return checked(inEnvironment)
  return checked(named)
}

function checked(url: string | null): string | null {
  if (url === null || url === EMBEDDED || isPostgres(url)) return url
  throw new UserError(
    `${shownUrl(url)} is no queue`,
    'Name a Postgres database, as postgres://user@host:5432/database, or embedded for one that needs no server.',
  )
}

/** Whether a text is the URL of a Postgres database. */
export function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)
}

/** The same world without the queue's password in the environment: no agent and no gate needs it. */
export function withoutQueue(world: World): World {
  return withParts(world, { env: { ...world.env, [QUEUE_VARIABLE]: undefined } })
}
