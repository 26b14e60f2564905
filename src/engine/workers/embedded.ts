import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import { UserError } from '../../base/errors.ts'
import { openBoss, reasonOf, type Queue } from './boss.ts'
import { loadOptional } from './optional.ts'

/** More than the workers on one machine. */
const MOST_CONNECTIONS = 100

/** The URL of a folder's embedded queue; null if no run has had one there. */
export function embeddedUrl(folder: string): string | null {
  const port = portIn(folder)
  return port === null ? null : urlAt(port)
}

/**
 * Opens a queue that needs no server: a Postgres inside this process, on a port that stays the same from run to run. Calls
 * `warn` if what an earlier run has left of it is unusable.
 */
export async function openEmbedded(
  folder: string,
  roots: readonly string[],
  warn: (message: string) => void,
): Promise<Queue> {
  const { PGlite } = await loadOptional<typeof import('@electric-sql/pglite')>('@electric-sql/pglite', roots)
  const { PGLiteSocketServer } = await loadOptional<typeof import('@electric-sql/pglite-socket')>(
    '@electric-sql/pglite-socket',
    roots,
  )
  // Checked first: that the package is missing is clearer than its own error.
  await loadOptional('pg-boss', roots)
  const port = await freePort(portIn(folder))
  const db = await openData(folder, (data) => PGlite.create(data), warn)
  const server = new PGLiteSocketServer({ db, port, maxConnections: MOST_CONNECTIONS })
  const stop = async (): Promise<void> => {
    await server.stop()
    await db.close()
  }
  try {
    await server.start()
    writeFileAtomic(join(folder, 'port'), `${port}\n`)
    const queue = await openBoss({ url: urlAt(port), shown: urlAt(port) }, roots)
    return {
      ...queue,
      async close() {
        await queue.close()
        await stop()
      },
    }
  } catch (error) {
    await stop().catch(() => undefined)
    throw error instanceof UserError ? error : doesNotStart(folder, error)
  }
}

/**
 * Opens the files of a queue, or makes them. If a kill has left files that cannot be opened, or are incomplete,
 * they are made again: what was done is in git, and the rest is done again.
 */
async function openData<Database>(
  folder: string,
  open: (data: string) => Promise<Database>,
  warn: (message: string) => void,
): Promise<Database> {
  const [data, mark] = [join(folder, 'data'), join(folder, 'starting')]
  const beginAnew = (why: string): void => {
    rmSync(data, { recursive: true, force: true })
    // Files that no run has used yet are no loss.
    if (portIn(folder) !== null)
      warn(`the embedded queue ${why}, and begins anew: what was done is in git, and the rest is done again`)
  }
  try {
    mkdirSync(folder, { recursive: true })
    if (existsSync(mark)) beginAnew('was ended while it started')
    writeFileSync(mark, '')
    const db = await open(data).catch((error: unknown) => {
      if (!existsSync(data)) throw error
      beginAnew(`cannot be opened (${reasonOf(error)})`)
      return open(data)
    })
    rmSync(mark, { force: true })
    return db
  } catch (error) {
    throw doesNotStart(folder, error)
  }
}

function doesNotStart(folder: string, error: unknown): UserError {
  return new UserError(
    `the embedded queue does not start: ${reasonOf(error)}`,
    `Its files are in ${folder}: nothing in them is needed, so they may be removed.`,
  )
}

function urlAt(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}

function portIn(folder: string): number | null {
  try {
    const port = Number(readFileSync(join(folder, 'port'), 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null
  } catch {
    return null
  }
}

/** The port of the last time, unless another program has it now. */
async function freePort(wanted: number | null): Promise<number> {
  return (wanted === null ? null : await tryPort(wanted)) ?? (await tryPort(0)) ?? 0
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => {
      const { port: got } = server.address() as AddressInfo
      server.close(() => resolve(got))
    })
  })
}
