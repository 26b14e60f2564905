import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A throw-away server of a test. */
export interface TestServer {
  /** The URL of a database of its own. */
  readonly database: () => string
  readonly stop: () => void
  readonly start: () => void
  /** It is gone, and its files with it. */
  readonly remove: () => void
}

/** Starts a Postgres whose binaries are on this machine; null where there are none, or nobody may start it. */
export async function startPostgres(): Promise<TestServer | null> {
  const bin = binaries()
  if (bin === null) return null
  const as = process.getuid?.() === 0 ? otherUser() : []
  if (as === null) return null
  const folder = mkdtempSync(join(tmpdir(), 'ralph-postgres-'))
  const run = (program: string, ...args: readonly string[]): void => {
    const [first, ...rest] = [...as, join(bin, program), ...args]
    execFileSync(first!, rest, { stdio: 'ignore', cwd: folder })
  }
  if (as.length > 0) execFileSync('chown', ['postgres', folder])
  chmodSync(folder, 0o700)
  const [data, port] = [join(folder, 'data'), await freePort()]
  run('initdb', '-D', data, '-A', 'trust', '-N', '-U', 'ralph')
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`
  const start = (): void => run('pg_ctl', '-D', data, '-w', '-o', options, '-l', join(folder, 'log'), 'start')
  const stop = (): void => run('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop')
  start()
  return {
    database() {
      const name = `test${++databases}`
      run('createdb', '-h', '127.0.0.1', '-p', String(port), '-U', 'ralph', name)
      return `postgres://ralph@127.0.0.1:${port}/${name}`
    },
    start,
    stop,
    remove() {
      try {
        stop()
      } catch {
        // A test may have stopped it.
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

let databases = 0

/** Where Debian, Homebrew and others have them. */
function binaries(): string | null {
  const versions = '/usr/lib/postgresql'
  const debian = existsSync(versions) ? readdirSync(versions).map((name) => join(versions, name, 'bin')) : []
  const onPath = (process.env['PATH'] ?? '').split(':')
  return [...debian, ...onPath].find((folder) => existsSync(join(folder, 'initdb'))) ?? null
}

/** The server refuses to be started by root. */
function otherUser(): readonly string[] | null {
  try {
    execFileSync('runuser', ['-u', 'postgres', '--', 'true'], { stdio: 'ignore' })
    return ['runuser', '-u', 'postgres', '--']
  } catch {
    return null
  }
}

/** A port that nobody has just now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
