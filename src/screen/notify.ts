import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { questionText } from '../engine/questions.ts'
import type { RunEvent, RunFinished, RunStarted } from '../engine/events/event.ts'
import { tell } from './tell.ts'
import { makePrivateFolder } from '../process/private-folder.ts'
import { startProcess } from '../process/start.ts'
import type { Config } from '../config/defaults.ts'
import type { World } from '../base/world.ts'
import { removeOrLeave } from '../base/remove.ts'

/** A notification: the body of the webhook, and the standard input of the command. */
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
  /** The choices of a question. */
  readonly options?: readonly string[]
  /** At the end: how the run ended, and its totals. */
  readonly result?: Pick<
    RunFinished,
    'end' | 'reason' | 'completed' | 'blocked' | 'failed' | 'held' | 'seconds' | 'cost'
  >
}

/** The notification for an event; null if it needs none. */
export function noticeOf(event: RunEvent, { run, root, branch }: RunStarted): Notice | null {
  const about = { version: 1, at: event.at, run, project: basename(root), branch } as const
  switch (event.type) {
    case 'question': {
      const { id, options } = event
      return { ...about, event: 'question', id, text: questionText(event), options }
    }
    case 'task-blocked': {
      const { id, reason } = event
      return { ...about, event: 'blocked', id, text: `${id} is blocked: ${reason}` }
    }
    case 'run-finished': {
      const { end, reason, completed, blocked, failed, held, seconds, cost } = event
      const result = { end, reason, completed, blocked, failed, held, seconds, cost }
      return { ...about, event: 'end', id: null, text: `The run is over: ${tell(event)}; ${reason}`, result }
    }
    default:
      return null
  }
}

/** The limit for one call, so that the run does not wait long. */
const LIMIT_SECONDS = 10

type Place = Pick<World, 'env' | 'urgent'>

/** Sends notifications one after the other; a run neither waits for them nor stops because of them. */
export function openNotifier(
  world: Place,
  {
    config: { command, webhook },
    root,
    warn,
  }: {
    config: Config['notify']
    /** The folder in which the command runs. */
    root: string
    /** Reports a failure, which stops nothing. */
    warn: (message: string) => void
  },
) {
  let run: RunStarted | null = null
  let sent = Promise.resolve()
  const send = async (notice: Notice): Promise<void> => {
    const problems = await Promise.all([
      command === null ? null : call(command, notice, { ...world, root }),
      webhook === null ? null : post(webhook, notice, world),
    ])
    for (const problem of problems) if (problem !== null) warn(problem)
  }
  return {
    event(event: RunEvent): void {
      if (event.type === 'run-started') run = event
      const notice = run && noticeOf(event, run)
      if (notice) sent = sent.then(() => send(notice))
    },
    /** Resolves when every notification was sent, or has failed. */
    settled: () => sent,
  }
}

/** Runs the command in its own session, without a terminal; null if it succeeds. */
async function call(
  command: string,
  notice: Notice,
  { env, urgent, root }: Place & { root: string },
): Promise<string | null> {
  const folder = makePrivateFolder('notice', env)
  const stdinFile = join(folder, 'notice.json')
  writeFileSync(stdinFile, `${JSON.stringify(notice)}\n`, { mode: 0o600 })
  const limit = AbortSignal.timeout(LIMIT_SECONDS * 1000)
  try {
    const end = await startProcess(
      { shell: command },
      {
        cwd: root,
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

/** Posts to the webhook; null if accepted. No message contains the address, which is a secret. */
async function post(webhook: string, notice: Notice, { env, urgent }: Place): Promise<string | null> {
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

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'for no known reason'
  if (error.name === 'TimeoutError') return `no answer within ${LIMIT_SECONDS}s`
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name
}
