import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { followLines, openForLines } from './line-file.ts'
import {
  readSignal,
  SIGNAL_FILES,
  SIGNAL_VARIABLES,
  type Reply,
  type Signal,
  type SignalResource,
  type Withdrawal,
} from './signal.ts'
import { removeOrLeave } from '../../base/remove.ts'

/** The folder for an attempt's signals, on ralph's side: its files are opened before any agent starts. */
export type SignalFolder = ReturnType<typeof openSignalFolder>

/** Opens the folder for one attempt, in an empty folder that only this user can open. */
export function openSignalFolder(
  path: string,
  resources: readonly SignalResource[],
  { said, refused }: { said: (signal: Signal | Withdrawal) => void; refused: (why: string) => void },
) {
  const token = randomBytes(16).toString('hex')
  const at = (name: string): string => join(path, name)
  writeFileSync(at(SIGNAL_FILES.said), '', { mode: 0o600 })
  writeFileSync(at(SIGNAL_FILES.resources), JSON.stringify(resources), { mode: 0o600 })
  const replies = openForLines(at(SIGNAL_FILES.replies))
  const seen = new Set<string>()
  const refuse = (id: string | null, why: string): void => {
    if (id !== null) replies.append({ id, ok: false, text: `Refused: ${why}.` })
    refused(why)
  }
  const unfollow = followLines(at(SIGNAL_FILES.said), (line) => {
    const read = readSignal(line)
    if ('wrong' in read) return refuse(read.id, read.wrong)
    const { id, token: named, signal } = read.said
    if (named !== token) return refuse(id, 'it is of another attempt')
    const key = `${signal === 'withdrawn' ? 'withdrawn ' : ''}${id}`
    if (seen.has(key)) return refuse(null, 'it came twice')
    seen.add(key)
    said(read.said)
  })
  return {
    path,
    /** The environment that connects the server to it. */
    env: { [SIGNAL_VARIABLES.folder]: path, [SIGNAL_VARIABLES.token]: token },
    reply: (reply: Reply) => replies.append(reply),
    /** Ends it: later signals are not read. */
    close() {
      unfollow()
      replies.close()
      removeOrLeave(path)
    },
  }
}
