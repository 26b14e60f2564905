import { join } from 'node:path'
import type { Gate, GateResult } from '../events/gate.ts'
import { cappedLog } from '../run/journal.ts'
import type { Run } from '../run/run.ts'

/** Runs one gate, and keeps what it prints in a log whose name begins so. */
export async function runLoggedGate(
  { ports, options }: Run,
  gate: Gate,
  { env, logName }: { readonly env: Readonly<Record<string, string | undefined>>; readonly logName: string },
): Promise<GateResult> {
  const path = join(ports.folder.logs, `${logName}-${fileName(gate.name)}.log`)
  const log = cappedLog(path, options.logBytes)
  try {
    return await ports.runGate(gate, {
      cwd: ports.workspace.root,
      env,
      signal: ports.signal,
      killSignal: ports.killSignal,
      log: (chunk) => log.write(chunk),
    })
  } finally {
    log.close()
  }
}

/** A name that any file system takes. */
function fileName(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}.-]+/gu, '_').slice(0, 80)
}
