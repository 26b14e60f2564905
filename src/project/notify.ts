import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { counted } from '../base/text.ts'
import { formatDuration } from '../base/time.ts'
import type { RunEvent, RunFinished, RunStarted } from '../events/event.ts'
import { makePrivateFolder, removeOrLeave } from '../process/private-folder.ts'
import { startProcess } from '../process/start.ts'
import type { NotifyConfig } from './config/defaults.ts'
import type { World } from './world.ts'

/** What somebody is called for: the body of the webhook, and the standard input of the command. */
export interface Notice {
  readonly version: 1
  readonly event: 'question' | 'blocked' | 'end'
  readonly at: string
  readonly run: string
  readonly project: string
  readonly branch: string | null
  /** The task; null at the end of the run. */
  readonly id: string | null
  /** One sentence for a person. */
  readonly text: string
  /** Of a question: what there is to choose from. */
  readonly options?: readonly string[]
  /** At the end: how the run ended, and what it came to. */
  readonly result?: Pick<
    RunFinished,
    'end' | 'reason' | 'completed' | 'blocked' | 'failed' | 'held' | 'seconds' | 'cost'
  >
}

/** What an event calls somebody for; null where it is none of those. */
export function noticeOf(event: RunEvent, { run, root, branch }: RunStarted): Notice | null {
  const about = { version: 1, at: event.at, run, project: basename(root), branch } as const
  switch (event.type) {
    case 'question': {
      const { id, text, options } = event
      // Of a task that has failed the question names the task itself.
      const sentence = text.startsWith(`${id} `) ? text : `${id} asks: ${text}`
      return { ...about, event: 'question', id, text: sentence, options }
    }
    case 'task-blocked': {
      const { id, reason } = event
      return { ...about, event: 'blocked', id, text: `${id} is blocked: ${reason}` }
    }
    case 'run-finished': {
      const { end, reason, completed, blocked, failed, held, seconds, cost } = event
      const result = { end, reason, completed, blocked, failed, held, seconds, cost }
      return { ...about, event: 'end', id: null, text: endText(event), result }
    }
    default:
      return null
  }
}

function endText({ completed, blocked, failed, reason, seconds }: RunFinished): string {
  const parts = [
    `${counted(completed.length, 'task')} done`,
    ...(blocked.length > 0 ? [`${blocked.length} blocked`] : []),
    ...(failed.length > 0 ? [`${failed.length} left`] : []),
    formatDuration(seconds),
  ]
  return `The run is over: ${parts.join(', ')}; ${reason}`
}

/** A call takes so long at the most; whoever is to be called is not worth more to a run. */
const LIMIT_SECONDS = 10

/** Where a notice goes, and what is done about one that does not get there. */
interface NoticeWays {
  readonly config: NotifyConfig
  /** Where the command runs. */
  readonly root: string
  /** Says what did not work: that stops nothing. */
  readonly warn: (message: string) => void
}

/** Calls somebody, one notice after the other; no run waits for that, nor stops over it. */
export class Notifier {
  readonly #world: Pick<World, 'env' | 'urgent'>
  readonly #ways: NoticeWays
  #run: RunStarted | null = null
  #sent: Promise<void> = Promise.resolve()

  constructor(world: Pick<World, 'env' | 'urgent'>, ways: NoticeWays) {
    this.#world = world
    this.#ways = ways
  }

  event(event: RunEvent): void {
    const { command, webhook } = this.#ways.config
    if (command === null && webhook === null) return
    if (event.type === 'run-started') this.#run = event
    const notice = this.#run && noticeOf(event, this.#run)
    if (notice) this.#sent = this.#sent.then(() => this.#send(notice))
  }

  /** Resolves when all that was sent has arrived, or has not. */
  settled(): Promise<void> {
    return this.#sent
  }

  async #send(notice: Notice): Promise<void> {
    const { config, warn } = this.#ways
    const problems = await Promise.all([
      config.command === null ? null : this.#call(config.command, notice),
      config.webhook === null ? null : this.#post(config.webhook, notice),
    ])
    for (const problem of problems) if (problem !== null) warn(problem)
  }

  /** In a session of its own, which has no terminal; null where it went well. */
  async #call(command: string, notice: Notice): Promise<string | null> {
    const { env, urgent } = this.#world
    const folder = makePrivateFolder('notice', env)
    const stdinFile = join(folder, 'notice.json')
    writeFileSync(stdinFile, `${JSON.stringify(notice)}\n`, { mode: 0o600 })
    const limit = AbortSignal.timeout(LIMIT_SECONDS * 1000)
    try {
      const end = await startProcess(
        { shell: command },
        {
          cwd: this.#ways.root,
          env: { ...env, RALPH_EVENT: notice.event, RALPH_TASK: notice.id ?? '', RALPH_TEXT: notice.text },
          stdinFile,
          onOutput: () => undefined,
          signal: limit,
          killSignal: urgent,
          killAfterSeconds: 1,
        },
      ).finished
      if (end.kind === 'not-started') return `notify.command did not start: ${end.reason}`
      if (limit.aborted) return `notify.command took longer than ${LIMIT_SECONDS}s`
      return end.code === 0 || urgent.aborted ? null : `notify.command exited with code ${end.code}`
    } finally {
      removeOrLeave(folder)
    }
  }

  /** The address is a secret, and stands in no message; null where it was taken. */
  async #post(webhook: string, notice: Notice): Promise<string | null> {
    const { env, urgent } = this.#world
    const name = webhook.slice('env:'.length)
    const address = env[name]
    if (!address) return `notify.webhook has no address: ${name} is not set`
    if (!URL.canParse(address) || !/^https?:/i.test(address))
      return `notify.webhook: ${name} holds no address of the web`
    try {
      const answer = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(notice),
        signal: AbortSignal.any([AbortSignal.timeout(LIMIT_SECONDS * 1000), urgent]),
      })
      await answer.body?.cancel()
      return answer.ok ? null : `notify.webhook was answered with ${answer.status}`
    } catch (error) {
      if (urgent.aborted) return null
      return `notify.webhook was not reached: ${causeOf(error)}`
    }
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'for no known reason'
  if (error.name === 'TimeoutError') return `no answer within ${LIMIT_SECONDS}s`
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name
}
