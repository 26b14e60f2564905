import { randomUUID } from 'node:crypto'
import type { PgBoss } from 'pg-boss'

const CHANNEL = 'ralph'
/** Between whom a call is for and whom it is from. */
const FROM = ' '

/** What tells a run and its workers that something has come for them, so that they need not ask all the time. */
export interface Calls {
  /** Whether a call has been heard: some poolers, and the embedded queue, take calls and bring none. */
  readonly isHeard: boolean
  /** Begins to listen, for nobody else any more. */
  listen(who: string, heard: (from: string | null) => void): void
  /** Never throws: whoever was not called asks a little later. */
  call(who: string, from?: string): Promise<void>
  close(): Promise<void>
}

/** Calls by LISTEN and NOTIFY of a Postgres. */
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
      // Also after a connection that was lost: what came meanwhile is looked for.
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
