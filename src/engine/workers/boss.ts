import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import type { Job } from '../job.ts'
import { UserError } from '../../base/errors.ts'
import { isObject } from '../../base/text.ts'
import { sleep } from '../../process/sleep.ts'
import { loadOptional } from './optional.ts'
import type { Batch, QueuePlace, Report, RunSign, Ticket, WorkerSign, Word } from './queue.ts'

/** pg-boss has its tables in a schema of its own. */
const SCHEMA = 'ralph'
const EVENTS = 'events'
const MOST = 200
const FAREWELL_MS = 5000

/** A message to a worker. */
type ToWorker = { readonly job: Job } | { readonly word: Word }

/** Carries jobs to workers and back. Each call throws if the queue cannot be reached. */
export type Queue = Awaited<ReturnType<typeof openBoss>>

/** Opens a queue on Postgres, or a compatible server; `roots` are folders where pg-boss may be installed. */
export async function openBoss({ url, shown }: { url: string; shown: string }, roots: readonly string[]) {
  const { PgBoss } = await loadOptional<typeof import('pg-boss')>('pg-boss', roots)
  const sockets = new Set<Socket>()
  // A connection that is cut, or was refused halfway, would keep this process alive.
  const cut = (): void => sockets.forEach((socket) => socket.destroy())
  const forPg = {
    stream() {
      const socket = new Socket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
  }
  const boss = new PgBoss({
    connectionString: url,
    schema: SCHEMA,
    application_name: 'ralph',
    // The run decides which workers are lost, and finished jobs are removed at once: pg-boss has nothing to supervise.
    supervise: false,
    schedule: false,
    max: 3,
    ...limitsAt(url),
    ...forPg,
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
    cut()
    throw new UserError(
      `the queue at ${shown} cannot be reached: ${reasonOf(error)}`,
      'Is the server up, and is it the right host, port, database and user? The password comes from PGPASSWORD, ~/.pgpass or RALPH_QUEUE.',
    )
  }
  return queueOn(boss, shown, cut)
}

/**
 * A cut connection shows no sign of it: this limits the wait for an answer. Connections on this machine are not
 * cut, and the embedded queue answers as fast as a busy machine allows.
 */
function limitsAt(url: string) {
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
  return isHere
    ? { connectionTimeoutMillis: 300_000, query_timeout: 300_000 }
    : { connectionTimeoutMillis: 15_000, query_timeout: 30_000 }
}

/** pg-boss retries nothing. */
const PLAIN = { retryLimit: 0 }

/** A refused connection may be several errors in one, without a message of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf)[0] ?? error.message
  if (!(error instanceof Error)) return String(error)
  if (/client password must be/.test(error.message)) return 'it asks for a password, and there is none'
  return error.message.split('\n')[0] || error.name
}

function queueOn(boss: PgBoss, url: string, cut: () => void) {
  const boxOf = ({ id }: Pick<Ticket, 'id'>): string => `to-${id}`
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
    return isObject(row) ? Number(row['now']) * 1000 : Number.NaN
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
  const remove = async (from: string, jobs: readonly { readonly id: string }[]): Promise<void> => {
    const ids = jobs.map(({ id }) => id)
    if (ids.length > 0) await boss.deleteJob(from, ids)
  }
  return {
    /** Its URL, without a password. */
    url,
    /** Takes the run's place; null if another run has it. */
    takeRun: (sign: RunSign) => take('run', sign),
    /** The holder of the run's place. */
    run: async () => (await held<RunSign>('run'))[0] ?? null,
    async join(sign: WorkerSign): Promise<Ticket> {
      // A run may give it a job as soon as it sees it.
      const id = randomUUID()
      await boss.createQueue(boxOf({ id }), PLAIN)
      const ticket = await take('workers', sign, id)
      if (ticket === null) throw new Error('the queue takes no worker')
      return ticket
    },
    workers: () => held<WorkerSign>('workers'),
    /** Sends a heartbeat; false if the place has been taken away. */
    async beat({ of, id }: Ticket): Promise<boolean> {
      const touched: object = await boss.touch(of, id)
      return 'affected' in touched && touched.affected === 1
    },
    /** Gives a place up, or takes it away; messages on their way to a worker stay. */
    drop: (ticket: Ticket) => remove(ticket.of, [ticket]),
    /** Removes the messages to a worker that is gone. */
    clear: (worker: Ticket) => boss.deleteQueue(boxOf(worker)).catch(ifThere),
    /** Removes all messages that nobody waits for: those to workers that are gone, and those that nobody read. */
    async sweep(): Promise<void> {
      const boxes = new Set((await held('workers')).map(({ ticket }) => boxOf(ticket)))
      for (const { name } of await boss.getQueues())
        if (name.startsWith('to-') && !boxes.has(name)) await boss.deleteQueue(name).catch(ifThere)
      await boss.deleteAllJobs(EVENTS)
    },
    /** Sends a job to a worker, as a parcel with that id. */
    async give(worker: Ticket, parcel: string, job: Job): Promise<void> {
      // A run that begins removes the queues of workers that it has not seen yet.
      await boss.createQueue(boxOf(worker), PLAIN)
      const id = await boss.send(boxOf(worker), { job }, { id: parcel })
      if (id === null) throw new Error('the queue takes no job')
    },
    /** Every job that was sent to the worker and not removed, and how it has ended: null while it runs. */
    async parcels(worker: Ticket) {
      const found = (await boss.findJobs<ToWorker>(boxOf(worker)).catch(ifThere)) ?? []
      return found.flatMap(({ id, data, state, output }) => {
        const report = state === 'completed' ? (output as unknown as Report) : null
        return 'job' in data ? [{ id, job: data.job, isTaken: state === 'active', report }] : []
      })
    },
    remove: (worker: Ticket, parcel: string) => remove(boxOf(worker), [{ id: parcel }]),
    async sendWord(worker: Ticket, word: Word): Promise<void> {
      await boss.send(boxOf(worker), { word })
    },
    /** The messages for a worker, which owns the jobs among them from now on. */
    async receive(worker: Ticket) {
      const got = await boss.fetch<ToWorker>(boxOf(worker), { batchSize: MOST }).catch(ifThere)
      if (!got) await boss.createQueue(boxOf(worker), PLAIN)
      const all = got ?? []
      const words = all.flatMap(({ id, data }) => ('word' in data ? [{ id, word: data.word }] : []))
      await remove(boxOf(worker), words)
      return {
        jobs: all.flatMap(({ id, data }) => ('job' in data ? [{ parcel: id, job: data.job }] : [])),
        words: words.map(({ word }) => word),
      }
    },
    async report(worker: Ticket, parcel: string, report: Report): Promise<void> {
      await boss.complete(boxOf(worker), parcel, report)
    },
    /** Sends events of a job to the run, in order. */
    async sendEvents(batch: Batch): Promise<void> {
      await boss.send(EVENTS, batch)
    },
    /** The events that workers have sent since the last call, in the order of each worker. */
    async receiveEvents(): Promise<readonly Batch[]> {
      const got = await boss.fetch<Batch>(EVENTS, { batchSize: MOST })
      await remove(EVENTS, got)
      return got.map(({ data }) => data)
    },
    async close(): Promise<void> {
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

/** Ignores that somebody else may have just removed it. */
function ifThere(error: unknown): undefined {
  if (!(error instanceof Error) || !/not exist|not found/i.test(error.message)) throw error
}
