import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import type { Job } from '../job.ts'
import { UserError } from '../../base/errors.ts'
import { sleep } from '../../process/sleep.ts'
import { loadOptional } from './optional.ts'
import type { Batch, QueuePlace, Parcel, Queue, Report, RunSign, Ticket, WorkerSign, Word } from './queue.ts'

/** pg-boss has its tables in a schema of its own. */
const SCHEMA = 'ralph'
const EVENTS = 'events'
const MOST = 200
const FAREWELL_MS = 5000

/** A message to a worker. */
type ToWorker = { readonly job: Job } | { readonly word: Word }

/** Opens a queue on Postgres, or a compatible server; `roots` are folders where pg-boss may be installed. */
export async function openBoss(
  { url, shown }: { url: string; shown: string },
  roots: readonly string[],
): Promise<Queue> {
  const { PgBoss } = await loadOptional<typeof import('pg-boss')>('pg-boss', roots)
  const sockets = openSockets()
  const boss = new PgBoss({
    connectionString: url,
    schema: SCHEMA,
    application_name: 'ralph',
    // The run decides which workers are lost, and finished jobs are removed at once: pg-boss has nothing to supervise.
    supervise: false,
    schedule: false,
    max: 3,
    ...limitsAt(url),
    ...sockets.options,
  })
  // The failing call throws the error as well.
  boss.on('error', () => undefined)
  try {
    await boss.start()
    await boss.createQueue('run', { policy: 'exclusive', ...PLAIN })
    await boss.createQueue('workers', PLAIN)
    await boss.createQueue(EVENTS, PLAIN)
  } catch (error) {
    await boss.stop({ graceful: false, close: true }).catch(() => undefined)
    sockets.destroy()
    throw unreachableQueue(shown, error)
  }
  return queueOn(boss, shown, sockets.destroy)
}

/** The connections of a queue: one that is cut, or was refused halfway, would keep this process alive. */
function openSockets(): {
  /** For pg; pg-boss passes them on. */
  readonly options: { readonly stream: () => Socket }
  readonly destroy: () => void
} {
  const sockets = new Set<Socket>()
  return {
    options: {
      stream() {
        const socket = new Socket()
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
        return socket
      },
    },
    destroy() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * A cut connection shows no sign of it: this limits the wait for an answer. Connections on this machine are not
 * cut, and the embedded queue answers as fast as a busy machine allows.
 */
function limitsAt(url: string): { readonly connectionTimeoutMillis: number; readonly query_timeout: number } {
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
  return isHere
    ? { connectionTimeoutMillis: 300_000, query_timeout: 300_000 }
    : { connectionTimeoutMillis: 15_000, query_timeout: 30_000 }
}

/** pg-boss retries nothing. */
const PLAIN = { retryLimit: 0 }

function unreachableQueue(url: string, error: unknown): UserError {
  return new UserError(
    `the queue at ${url} cannot be reached: ${reasonOf(error)}`,
    'Is the server up, and is it the right host, port, database and user? The password comes from PGPASSWORD, ~/.pgpass or RALPH_QUEUE.',
  )
}

/** A refused connection may be several errors in one, without a message of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf)[0] ?? error.message
  if (!(error instanceof Error)) return String(error)
  if (/client password must be/.test(error.message)) return 'it asks for a password, and there is none'
  return error.message.split('\n')[0] || error.name
}

function queueOn(boss: PgBoss, url: string, cut: () => void): Queue {
  const boxOf = ({ id }: Ticket): string => `to-${id}`
  const held = async <Sign>(of: Ticket['of']): Promise<readonly QueuePlace<Sign>[]> => {
    const found = (await boss.findJobs<Sign>(of)).filter(isOpen)
    const now = found.length === 0 ? 0 : await clock()
    return found.map(({ id, data, heartbeatOn, createdOn }) => {
      const heardAt = new Date(heartbeatOn ?? createdOn).getTime()
      return { ticket: { of, id }, sign: data, silentSeconds: (now - heardAt) / 1000 }
    })
  }
  const clock = async (): Promise<number> => {
    const { rows } = await boss.getDb().executeSql('select extract(epoch from clock_timestamp()) as now')
    const [row]: readonly unknown[] = rows
    return typeof row === 'object' && row !== null && 'now' in row ? Number(row.now) * 1000 : Number.NaN
  }
  const take = async (
    of: Ticket['of'],
    sign: RunSign | WorkerSign,
    wanted: string = randomUUID(),
  ): Promise<Ticket | null> => {
    const id = await boss.send(of, sign, { id: wanted })
    if (id === null) return null
    // Only active jobs have heartbeats.
    await boss.fetch(of, { batchSize: MOST })
    await boss.touch(of, id)
    return { of, id }
  }
  return {
    url,
    takeRun: (sign) => take('run', sign),
    async run() {
      return (await held<RunSign>('run'))[0] ?? null
    },
    async join(sign) {
      // A run may give it a job as soon as it sees it.
      const id = randomUUID()
      await boss.createQueue(boxOf({ of: 'workers', id }), PLAIN)
      const ticket = await take('workers', sign, id)
      if (ticket === null) throw new Error('the queue takes no worker')
      return ticket
    },
    workers: () => held<WorkerSign>('workers'),
    async beat({ of, id }) {
      const touched: object = await boss.touch(of, id)
      return 'affected' in touched && touched.affected === 1
    },
    async drop({ of, id }) {
      await boss.deleteJob(of, id)
    },
    clear: (worker) => boss.deleteQueue(boxOf(worker)).catch(ifThere),
    async sweep() {
      const boxes = new Set((await held('workers')).map(({ ticket }) => boxOf(ticket)))
      const names = (await boss.getQueues()).map(({ name }) => name)
      for (const name of names)
        if (name.startsWith('to-') && !boxes.has(name)) await boss.deleteQueue(name).catch(ifThere)
      await boss.deleteAllJobs(EVENTS)
    },
    async give(worker, parcel, job) {
      // A run that begins removes the queues of workers that it has not seen yet.
      await boss.createQueue(boxOf(worker), PLAIN)
      const id = await boss.send(boxOf(worker), { job }, { id: parcel })
      if (id === null) throw new Error('the queue takes no job')
    },
    async parcels(worker) {
      const found = (await boss.findJobs<ToWorker>(boxOf(worker)).catch(ifThere)) ?? []
      return found.flatMap((one) => parcelOf(one) ?? [])
    },
    async remove(worker, parcel) {
      await boss.deleteJob(boxOf(worker), parcel)
    },
    async sendWord(worker, word) {
      await boss.send(boxOf(worker), { word })
    },
    async receive(worker) {
      const got = await boss.fetch<ToWorker>(boxOf(worker), { batchSize: MOST }).catch(ifThere)
      if (!got) {
        await boss.createQueue(boxOf(worker), PLAIN)
        return { jobs: [], words: [] }
      }
      const words = got.filter(({ data }) => 'word' in data)
      if (words.length > 0)
        await boss.deleteJob(
          boxOf(worker),
          words.map(({ id }) => id),
        )
      return {
        jobs: got.flatMap(({ id, data }) => ('job' in data ? [{ parcel: id, job: data.job }] : [])),
        words: words.flatMap(({ data }) => ('word' in data ? [data.word] : [])),
      }
    },
    async report(worker, parcel, report) {
      await boss.complete(boxOf(worker), parcel, report)
    },
    async sendEvents(batch) {
      await boss.send(EVENTS, batch)
    },
    async receiveEvents() {
      const got = await boss.fetch<Batch>(EVENTS, { batchSize: MOST })
      if (got.length > 0)
        await boss.deleteJob(
          EVENTS,
          got.map(({ id }) => id),
        )
      return got.map(({ data }) => data)
    },
    async close() {
      const over = new AbortController()
      const parted = boss.stop({ graceful: false, close: true }).finally(() => over.abort())
      // A cut connection gets no answer to the goodbye.
      await Promise.race([parted, sleep(FAREWELL_MS, over.signal)]).finally(cut)
    },
  }
}

function isOpen({ state }: Pick<JobWithMetadata, 'state'>): boolean {
  return state === 'active' || state === 'created'
}

function parcelOf({ id, data, state, output }: JobWithMetadata<ToWorker>): Parcel | null {
  if (!('job' in data)) return null
  const report = state === 'completed' ? (output as unknown as Report) : null
  return { id, job: data.job, isTaken: state === 'active', report }
}

/** Ignores that somebody else may have just removed it. */
function ifThere(error: unknown): undefined {
  if (!(error instanceof Error) || !/not exist|not found/i.test(error.message)) throw error
}
