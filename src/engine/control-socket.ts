import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { UserError } from '../base/errors.ts'
import { fewOf, parsedJson } from '../base/text.ts'
import type { Control } from './control.ts'
import type { RunFolder } from './folder.ts'

/** What a command in another terminal can request from the running run. */
const REQUEST = v.variant('do', [
  v.object({ do: v.picklist(['pause', 'resume', 'look']) }),
  v.object({ do: v.literal('stop'), now: v.optional(v.boolean(), false) }),
  v.object({ do: v.literal('drain'), worker: v.string() }),
  v.object({ do: v.picklist(['skip', 'retry', 'take-over']), task: v.string() }),
  v.object({ do: v.literal('answer'), task: v.string(), text: v.pipe(v.string(), v.trim(), v.minLength(1)) }),
])
export type ControlRequest = v.InferOutput<typeof REQUEST>

/** What the run knows of its workers now, and which tasks wait for one. */
const QUEUE = v.object({
  workers: v.array(
    v.object({
      worker: v.string(),
      places: v.number(),
      labels: v.array(v.string()),
      tasks: v.array(v.string()),
      state: v.picklist(['works', 'waits', 'leaving', 'silent']),
      seen: v.string(),
    }),
  ),
  waiting: v.array(v.string()),
})
export type QueueState = v.InferOutput<typeof QUEUE>

/** The run's answer: done, or why not; with its queue if it was to look. */
const REPLY = v.object({ ok: v.boolean(), text: v.string(), queue: v.optional(QUEUE) })
type ControlReply = Readonly<v.InferOutput<typeof REPLY>>

type Environment = Readonly<Record<string, string | undefined>>

/** The longest path that all systems accept for a socket, with the zero at its end. */
const LONGEST_PATH = 100
const MOST_BYTES = 64 * 1024
const PATIENCE_MS = 10_000

/**
 * Opens the socket of a run, for this user only, to commands in other terminals; the returned function closes it. A
 * failure stops no run.
 */
export async function openControlDoor(
  { control: path }: Pick<RunFolder, 'control'>,
  env: Environment,
  answer: (request: ControlRequest) => ControlReply,
): Promise<() => void> {
  const address = addressOf(path, env)
  const server = await listen(address, path, answer)
  return () => {
    server?.close()
    if (server) for (const left of new Set([path, address])) rmSync(left, { force: true })
  }
}

/** The workers of a run. */
interface Workers {
  readonly state: QueueState
  readonly drain: (name: string) => boolean
}

/** Does what is requested, or returns why not. `tasks` are those that the run may come to. */
export function controlAnswers(
  control: Control,
  tasks: () => readonly string[],
  workers: Workers | null = null,
) {
  return (request: ControlRequest): ControlReply => {
    const done = (text: string): ControlReply => ({ ok: true, text })
    switch (request.do) {
      case 'pause':
        control.pause()
        return control.isStopping
          ? no('the run is ending')
          : done('paused: no new attempt starts. ralph resume continues it')
      case 'resume':
        if (!control.isPaused) return no('the run is not paused')
        control.resume()
        return done('the run continues')
      case 'look':
        return { ...done(''), queue: workers?.state }
      case 'drain':
        return workers?.drain(request.worker)
          ? done(`${request.worker} ends after what it has, and gets no more`)
          : no(`no worker ${request.worker} is in this run${named(workers)}`)
      case 'stop':
        return done(stop(control, request.now))
      case 'skip':
        if (!tasks().includes(request.task)) return no(`${request.task} is no task that this run could do`)
        control.skip(request.task)
        return done(`${request.task} is skipped in this run, and stays TODO`)
      case 'retry':
        return control.retry(request.task)
          ? done(`${request.task} is tried again`)
          : no(
              `the run does not ask about ${request.task}: what is blocked is for the next run, after ralph retry`,
            )
      case 'take-over':
        return no(`${request.task} is taken over in the terminal of its run: press i there`)
      case 'answer':
        return control.answer(request.task, request.text)
          ? done(`answered: ${request.task} goes on`)
          : no(`nobody asks about ${request.task}`)
    }
  }
}

function named(workers: Workers | null): string {
  const names = workers?.state.workers.map(({ worker }) => worker) ?? []
  return names.length === 0 ? ': it has none' : `: it has ${fewOf(names)}`
}

/** Stops as the keys of a run do: after the attempt, in order now, and by a kill if requested twice. */
function stop(control: Control, now: boolean): string {
  if (!now) {
    control.stop('after-attempt')
    return 'the run ends after this attempt. ralph stop --now does not wait for it'
  }
  const again = control.signal.aborted
  control.stop(again ? 'now' : 'clean')
  return again ? 'stopping at once' : 'the run stops now, and records its attempts'
}

function no(text: string): ControlReply {
  return { ok: false, text }
}

/** Sends a request to the running run; null if none can be reached. */
export async function askRun(
  { control: path }: Pick<RunFolder, 'control'>,
  request: ControlRequest,
): Promise<ControlReply | null> {
  const address = knownAddress(path)
  if (address === null) return null
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = createConnection(address, () => socket.end(`${JSON.stringify(request)}\n`))
    socket.setEncoding('utf8').setTimeout(PATIENCE_MS, () => socket.destroy(new Error('it does not answer')))
    socket.on('data', (chunk) => (text += String(chunk)))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // Nobody listens any more: a run that died has left the file.
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(null)
      else reject(new UserError(`the run cannot be reached: ${error.message}`, `Its socket is ${address}.`))
    })
    socket.on('close', () => {
      const read = v.safeParse(REPLY, parsedJson(text))
      resolve(read.success ? read.output : null)
    })
  })
}

/** The request in a line; null if it is none. */
export function readRequest(line: string): ControlRequest | null {
  const read = v.safeParse(REQUEST, parsedJson(line))
  return read.success ? read.output : null
}

async function listen(
  address: string,
  path: string,
  answer: (request: ControlRequest) => ControlReply,
): Promise<Server | null> {
  const server = createServer({ allowHalfOpen: true }, (socket) => serve(socket, answer))
  try {
    // A run that died has left the file: only one run holds the lock.
    for (const left of new Set([path, address])) rmSync(left, { force: true })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(address, resolve))
    chmodSync(address, 0o600)
    if (address !== path) writeFileSync(path, address, { mode: 0o600 })
  } catch {
    server.close()
    return null
  }
  server.on('error', () => undefined)
  // An open connection must not keep the run alive.
  server.unref()
  return server
}

function serve(socket: Socket, answer: (request: ControlRequest) => ControlReply): void {
  let text = ''
  socket.unref()
  socket.setEncoding('utf8').setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  // A client that leaves without a request gets no answer.
  socket.on('end', () => socket.end())
  socket.on('data', (chunk) => {
    text += String(chunk)
    if (text.length > MOST_BYTES) return socket.destroy()
    const end = text.indexOf('\n')
    if (end < 0) return
    const request = readRequest(text.slice(0, end))
    text = ''
    socket.end(`${JSON.stringify(request ? answer(request) : no('the run does not know this request'))}\n`)
  })
}

/** The socket's path: in the folder, or if that is too long, in a folder that only this user can open. */
function addressOf(path: string, env: Environment): string {
  if (Buffer.byteLength(path) <= LONGEST_PATH) return path
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
  const folder = join(runtimeFolder(env), `ralph-${userInfo().uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return join(isPrivate(folder) ? folder : dirname(path), `${name}.sock`)
}

function runtimeFolder(env: Environment): string {
  const configured = env['XDG_RUNTIME_DIR']
  return configured !== undefined && existsSync(configured) ? configured : tmpdir()
}

/** The address that the run has stored; null if no run has. A path that leads into another user's folder is not followed. */
function knownAddress(path: string): string | null {
  try {
    if (lstatSync(path).isSocket()) return path
    const address = readFileSync(path, 'utf8').trim()
    return isPrivate(dirname(address)) ? address : null
  } catch {
    return null
  }
}

function isPrivate(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  return uid === userInfo().uid && (mode & 0o077) === 0
}
