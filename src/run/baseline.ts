import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { withMark } from '../base/process-mark.ts'
import { gatesPassed } from '../gates/gate.ts'
import type { Gate, GateResult } from '../gates/gate.ts'
import type { Base } from '../git/restore.ts'
import type { Happening } from './events.ts'
import { cappedLog } from './journal.ts'
import { fileName } from './judge.ts'
import type { Run } from './run.ts'

/** Runs the gates on the untouched tree, so that what failed before is nobody's fault later. False ends the run. */
export async function* runBaseline(run: Run, base: Base): AsyncGenerator<Happening, boolean> {
  const { options, ports } = run
  if (options.baseline === 'off' || options.gates.length === 0) return true
  const file = join(ports.folder.results, `baseline-${keyOf(base, options.gates)}.json`)
  const known = readResults(file)
  if (!known) yield { type: 'baseline-started', gates: options.gates }
  const results = known ?? (await runAll(run))
  if (ports.signal.aborted) return true
  if (!known) {
    writeFileAtomic(file, JSON.stringify(results) + '\n')
    yield* lookForLitter(run)
  }
  run.failedBefore = results.filter((result) => result.verdict !== 'passed')
  yield { type: 'baseline-finished', results, known: known !== null }
  return gatesPassed(results) || options.baseline !== 'stop'
}

async function runAll({ options, ports, flight }: Run): Promise<readonly GateResult[]> {
  const results: GateResult[] = []
  for (const gate of options.gates) {
    if (ports.signal.aborted) break
    const log = cappedLog(join(ports.folder.logs, `baseline-${fileName(gate.name)}.log`), options.logBytes)
    try {
      results.push(
        await ports.runGate(gate, {
          cwd: ports.workspace.root,
          env: withMark(ports.env, flight.mark),
          signal: ports.signal,
          killSignal: ports.killSignal,
          log: (chunk) => log.write(chunk),
        }),
      )
    } finally {
      log.close()
    }
  }
  return results
}

/** What the gates leave behind is no agent's work; and it would end up in a task's commit. */
async function* lookForLitter(run: Run): AsyncGenerator<Happening, void> {
  const { entries } = await run.ports.workspace.look()
  const paths = entries.map((entry) => entry.path)
  if (paths.length === 0) return
  run.litter = new Set(paths)
  yield {
    type: 'warning',
    message: `the gates leave files that git does not ignore, and that the first commit will hold: ${paths.join(', ')}`,
  }
}

function keyOf(base: Base, gates: readonly Gate[]): string {
  return createHash('sha256')
    .update(JSON.stringify([base.head, gates]))
    .digest('hex')
    .slice(0, 16)
}

function readResults(file: string): readonly GateResult[] | null {
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(read) && read.every(isResult) ? read : null
  } catch {
    return null
  }
}

function isResult(value: unknown): value is GateResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    'verdict' in value &&
    'gate' in value &&
    'fingerprint' in value
  )
}
