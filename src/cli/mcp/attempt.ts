import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { appendLine, followLines } from '../../agents/signal/line-file.ts'
import {
  readReply,
  SIGNAL_FILES,
  SIGNAL_NAMES,
  SIGNAL_VARIABLES,
  SIGNALS,
  type Reply,
  type SignalName,
  type SignalResource,
} from '../../agents/signal/signal.ts'
import type { McpOffer, McpResource, Tool } from './server.ts'

/** The descriptions of the signals for the model. */
const ABOUT: Readonly<Record<SignalName, string>> = {
  done: 'Say that the task is done, once your work is in the tree. ralph then runs the checks. Call it once, then end your turn.',
  blocked:
    'Say that you cannot go on because only a person can give or decide something. Call it once, then end your turn.',
  progress: 'Tell the person who watches what you are at.',
  ask: 'Ask a person and wait for the answer. Only for what you can neither find out nor decide; without an answer the task is blocked with your question.',
  add_task:
    'Add a task to the backlog for work that you found and that is not part of this task. ralph writes its file.',
}

const SERVER_ABOUT =
  'ralph runs you on one task. Call `done` when it is done or `blocked` when only a person can help, instead of ending with a marker in your final message.'

/** The attempt's variables if the server was started in one; else null. */
export function attemptIn(
  env: Readonly<Record<string, string | undefined>>,
): { readonly folder: string; readonly token: string } | null {
  const [folder, token] = [env[SIGNAL_VARIABLES.folder], env[SIGNAL_VARIABLES.token]]
  return folder === undefined || token === undefined ? null : { folder, token }
}

/** What the server offers the agent of an attempt, in its workspace. */
export function attemptOffer(
  attempt: { readonly folder: string; readonly token: string },
  { version, workspace }: { readonly version: string; readonly workspace: string },
): McpOffer & { readonly close: () => void } {
  const line = openLine(attempt)
  const tools = SIGNAL_NAMES.map((name): Tool => ({
    name,
    about: ABOUT[name],
    input: SIGNALS[name],
    readOnly: false,
    call: (input, cancelled) => line.call(name, input, cancelled),
  }))
  const resources = resourcesIn(attempt.folder).map((resource) => served(resource, workspace))
  return { version, about: SERVER_ABOUT, tools, resources, close: () => line.close() }
}

/** How long ralph may take to reply if no person has to answer. */
const REPLY_MS = 30_000

const ENDED: Reply = { id: '', ok: false, text: 'Refused: this attempt has ended.' }
const SILENT: Reply = {
  id: '',
  ok: false,
  text: 'ralph does not answer: say it at the end of your final message.',
}

/** The connection to ralph. */
function openLine({ folder, token }: { readonly folder: string; readonly token: string }) {
  const [sent, replies] = [join(folder, SIGNAL_FILES.said), join(folder, SIGNAL_FILES.replies)]
  const waiting = new Map<string, (reply: Reply) => void>()
  const unfollow = existsSync(replies)
    ? followLines(replies, (text) => {
        const reply = readReply(text)
        if (reply) waiting.get(reply.id)?.(reply)
      })
    : () => undefined
  const send = (message: object): boolean => existsSync(sent) && appendLine(sent, message)
  return {
    close: unfollow,
    call: (signal: SignalName, input: object, cancelled: AbortSignal): Promise<Reply> =>
      new Promise((resolve) => {
        const id = crypto.randomUUID()
        const end = (reply: Reply): void => {
          clearTimeout(timer)
          cancelled.removeEventListener('abort', withdraw)
          waiting.delete(id)
          resolve(reply)
        }
        const withdraw = (): void => {
          send({ id, token, signal: 'withdrawn' })
          end({ id, ok: false, text: 'Nobody waits for the answer any more.' })
        }
        // A person may take their time; ralph reports when it stops waiting.
        const timer = signal === 'ask' ? undefined : setTimeout(() => end(SILENT), REPLY_MS)
        cancelled.addEventListener('abort', withdraw)
        waiting.set(id, end)
        if (!send({ id, token, signal, input })) end(ENDED)
      }),
  }
}

function resourcesIn(folder: string): readonly SignalResource[] {
  try {
    const read: unknown = JSON.parse(readFileSync(join(folder, SIGNAL_FILES.resources), 'utf8'))
    return Array.isArray(read) ? (read as readonly SignalResource[]) : []
  } catch {
    // The attempt has ended, or there was no such folder.
    return []
  }
}

function served({ uri, title, text, file }: SignalResource, workspace: string): McpResource {
  return {
    uri,
    title,
    read: async () => text ?? (file === null ? '' : await readInside(workspace, file)),
  }
}

/** Reads a file unless a link leads out of the workspace. */
async function readInside(workspace: string, file: string): Promise<string> {
  const path = join(workspace, file)
  if (!existsSync(path)) throw new UserError(`${file} is not there any more`)
  const { pathWithin, truePaths } = await import('../../base/paths.ts')
  const truePath = truePaths()
  if (pathWithin(truePath(workspace), realpathSync(path)) === null)
    throw new UserError(`${file} leads out of the workspace`)
  return readFile(path, 'utf8')
}
