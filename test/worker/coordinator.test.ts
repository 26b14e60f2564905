import { describe, expect, it } from 'vitest'
import { thisMachine } from '../../src/process/table.ts'
import { Coordinator } from '../../src/engine/workers/coordinator.ts'
import type { Queue } from '../../src/engine/workers/boss.ts'
import { PROTOCOL, type QueuePlace, type RunSign, type WorkerSign } from '../../src/engine/workers/queue.ts'
import { Remote } from '../../src/engine/workers/remote.ts'
import type { Happening } from '../../src/engine/events/event.ts'
import { openGit } from '../../src/git/door.ts'
import { ENV, git, makeFolder, makeRepository } from '../repository.ts'

const refuse = async (): Promise<never> => {
  throw new Error('nobody calls this')
}

/** A queue in this process: only places, and no job. */
function placesOnly(held: QueuePlace<RunSign> | null, workers: readonly WorkerSign[] = []): Queue {
  let run = held
  return {
    url: 'postgres://db/x',
    async takeRun(sign) {
      if (run) return null
      run = { ticket: { of: 'run', id: 'mine' }, sign, silentSeconds: 0 }
      return run.ticket
    },
    run: async () => run,
    workers: async () =>
      workers.map((sign) => ({ ticket: { of: 'workers', id: sign.name }, sign, silentSeconds: 0 })),
    beat: async () => true,
    async drop({ of }) {
      if (of === 'run') run = null
    },
    clear: async () => undefined,
    sweep: async () => undefined,
    parcels: async () => [],
    receiveEvents: async () => [],
    close: async () => undefined,
    join: refuse,
    give: refuse,
    remove: refuse,
    sendWord: refuse,
    receive: refuse,
    report: refuse,
    sendEvents: refuse,
  }
}

async function coordinator(queue: Queue): Promise<Coordinator> {
  const root = makeRepository()
  const bare = makeFolder()
  git(bare, 'init', '-q', '--bare')
  git(root, 'remote', 'add', 'origin', bare)
  return new Coordinator({
    open: async () => queue,
    isEmbedded: false,
    remote: new Remote(openGit({ cwd: root, env: ENV }), 'origin'),
    times: { heartbeatSeconds: 10, lostSeconds: 30, workerTimeoutSeconds: 60 },
    version: '1.0.0',
    pid: process.pid,
    labelsOf: async () => [],
    now: () => new Date(),
    urgent: new AbortController().signal,
  })
}

async function sign(more: Partial<RunSign> = {}): Promise<RunSign> {
  return {
    protocol: PROTOCOL,
    version: '1.0.0',
    run: 'other',
    machine: { ...(await thisMachine()), id: 'elsewhere', boot: 'other', host: 'far' },
    pid: 1,
    branch: 'main',
    isEmbedded: false,
    heartbeatSeconds: 10,
    ...more,
  }
}

const held = async (silentSeconds: number, more: Partial<RunSign> = {}): Promise<QueuePlace<RunSign>> => {
  return {
    ticket: { of: 'run', id: 'theirs' },
    sign: await sign(more),
    silentSeconds,
  }
}

describe('the place of the run', () => {
  const begins = async (other: QueuePlace<RunSign> | null): Promise<string> => {
    const one = await coordinator(placesOnly(other))
    try {
      await one.begin({ id: 'run', branch: 'main', emit: () => undefined })
      return 'begun'
    } catch (error) {
      return error instanceof Error ? error.message : ''
    } finally {
      await one.end()
    }
  }

  it('is free where nobody has it, or nothing was heard of who has it for as long as counts as lost', async () => {
    expect(await begins(null)).toBe('begun')
    expect(await begins(await held(31))).toBe('begun')
  })

  it("is another run's that was heard of, by the clock of the queue", async () => {
    expect(await begins(await held(29))).toBe(
      'another run has this queue: other, process 1 on far, last heard of 29s ago',
    )
  })

  it('is free at once where that run was here and is dead', async () => {
    const machine = await thisMachine()
    expect(await begins(await held(0, { machine, pid: 2 ** 22 + 1 }))).toBe('begun')
    expect(await begins(await held(0, { machine, pid: process.pid }))).toContain('another run has this queue')
  })
})

describe('the workers of a run', () => {
  it('are those of the same version: another one leaves by itself', async () => {
    const worker = { protocol: PROTOCOL, version: '1.0.0', name: 'same', pid: 1, places: 2, labels: [] }
    const one = await coordinator(placesOnly(null, [{ ...worker, name: 'other', version: '2.0.0' }, worker]))
    const events: Happening[] = []
    await one.begin({ id: 'run', branch: 'main', emit: () => undefined })
    one.listen((event) => events.push(event))
    while (events.length < 1) await one.changed()
    expect(events).toEqual([{ type: 'worker-joined', worker: 'same', places: 2, labels: [] }])
    expect(one.places).toBe(2)
    await one.end()
  })
})
