import { randomUUID } from 'node:crypto'
import type { PgBoss } from 'pg-boss'

const CHANNEL = 'ralph'
/** Separates the receiver of a call from its sender. */
const FROM = ' '

/** Notifies a run and its workers of new messages, so that they need not poll. */
export interface Calls {
  /** Whether calls arrive: some poolers, and the embedded queue, accept calls and deliver none. */
  readonly isHeard: boolean
  /** Listens from now on, only for this name. */
  listen(who: string, heard: (from: string | null) => void): void
  /** Never throws: a receiver that gets no call polls a little later. */
  call(who: string, from?: string): Promise<void>
  close(): Promise<void>
}

/** Calls by LISTEN and NOTIFY of Postgres. */
export function listenOn(db: ReturnType<PgBoss['getDb']>): Calls {
  let isHeard = false
  let open: Promise<{ close(): Promise<void> } | null> | null = null
  const call = async (who: string, from?: string): Promise<void> => {
    const text = from === undefined ? who : `${who}${FROM}${from}`
    await db.executeSql('select pg_notify($1, $2)', [CHANNEL, text]).catch(() => undefined)
  }
  const close = async (): Promise<void> => {
    const opened = open
    open = null
    isHeard = false
    await (await opened)?.close()
  }
  const begin = async (who: string, heard: (from: string | null) => void) => {
    const proof = randomUUID()
    const onCall = (text: string): void => {
      const [to, from = null] = text.split(FROM)
      if (to === proof) isHeard = true
      if (to === who) heard(from)
    }
    try {
      // Also after a lost connection, because messages may have come in the meantime.
      const handle = await db.listen?.(CHANNEL, onCall, () => heard(null))
      await call(proof)
      return handle ?? null
    } catch {
      return null
    }
  }
  return {
    get isHeard() {
      return isHeard
    },
    call,
    close,
    listen(who, heard) {
      const before = close()
      open = before.then(() => begin(who, heard))
    },
  }
}
