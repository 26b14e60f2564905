import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { UserError } from '../base/errors.ts'
import { openBoss, reasonOf } from './boss.ts'
import { loadOptional } from './optional.ts'
import type { Queue } from './queue.ts'

/** More than there are workers on one machine. */
const MOST_CONNECTIONS = 100

/** The URL of the embedded queue of a folder; null where no run has had one there. */
export function embeddedUrl(folder: string): string | null {
  const port = portIn(folder)
  return port === null ? null : urlAt(port)
}

/** Opens a queue that needs no server: a Postgres inside of this process, on a port that it keeps from run to run. */
export async function openEmbedded(folder: string, roots: readonly string[]): Promise<Queue> {
  const { PGlite } = await loadOptional<typeof import('@electric-sql/pglite')>('@electric-sql/pglite', roots)
  const { PGLiteSocketServer } = await loadOptional<typeof import('@electric-sql/pglite-socket')>(
    '@electric-sql/pglite-socket',
    roots,
  )
  // That it is there before a run with --queue needs it says less than its own error would.
  await loadOptional('pg-boss', roots)
  const port = await freePort(portIn(folder))
  const data = join(folder, 'data')
  mkdirSync(folder, { recursive: true })
  const open = (): Promise<InstanceType<typeof PGlite>> => PGlite.create(data)
  const db = await open().catch(() => {
    // What a kill has left of it cannot be opened: what was done is in git, and what was not is done again.
    rmSync(data, { recursive: true, force: true })
    return open()
  })
  const server = new PGLiteSocketServer({ db, port, maxConnections: MOST_CONNECTIONS })
  const stop = async (): Promise<void> => {
    await server.stop()
    await db.close()
  }
  try {
    await server.start()
    writeFileAtomic(join(folder, 'port'), `${port}\n`)
    const queue = await openBoss(urlAt(port), roots)
    return {
      ...queue,
      // All connections are one session, to which calls are brought by chance.
      isListening: false,
      listen: () => undefined,
      async close() {
        await queue.close()
        await stop()
      },
    }
  } catch (error) {
    await stop().catch(() => undefined)
    throw error instanceof UserError
      ? error
      : new UserError(`the embedded queue does not start: ${reasonOf(error)}`, `Its files are in ${folder}.`)
  }
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

/** The port that it had, unless somebody else has it by now. */
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
