import { runLogged } from '../attempt/check.ts'
import { tellingLines } from '../base/failure-lines.ts'
import { fewOf } from '../base/text.ts'
import type { Base } from '../git/head.ts'
import type { OwnWorkspace } from '../workspace/own.ts'
import { setAside } from './give-up.ts'
import { attemptPorts } from './job-ports.ts'
import type { Run } from './task.ts'

/** What making ready uses of a run. */
type Running = Pick<Run, 'ports' | 'ledger' | 'emit'>

/** Installing packages may take long without a cache. */
const TIMEOUT_SECONDS = 1800

/** Installs what a workspace lacks; null, or why it cannot: then an agent would cost money for nothing. */
export async function makeReady(run: Running, own: OwnWorkspace, base: Base): Promise<string | null> {
  const { ports, emit } = run
  const { prepare } = ports.workspaces.furniture
  if (prepare === null || own.isPrepared) return null
  emit({ type: 'preparing', command: prepare })
  const gate = { name: 'prepare', command: prepare, required: true, timeoutSeconds: TIMEOUT_SECONDS }
  const result = await runLogged(
    gate,
    { ...attemptPorts(ports, ''), runGate: ports.runPrepare },
    {
      name: `prepare-${own.number}`,
      onCaged: (action) => emit({ type: 'caged', id: '', by: 'gate', ...action }),
    },
  )
  if (result.verdict === 'interrupted') return null
  await own.prepared(result.verdict === 'passed')
  if (result.verdict === 'passed') {
    await undoChanges(run, base)
    return null
  }
  const lines = tellingLines(result.excerpt, 6).join('\n')
  return `a workspace could not be prepared with ${prepare}: ${result.reason}${lines === '' ? '' : `\n${lines}`}`
}

/** Restores tracked files, and sets aside what git does not ignore: what was installed is no work. */
async function undoChanges(run: Running, base: Base): Promise<void> {
  const { inspect, restore } = run.ports.workspace
  const { entries } = await inspect.status()
  const tracked = entries
    .filter(({ kind, unstaged }) => unstaged && kind !== 'untracked')
    .map(({ path }) => path)
  setAside(
    run,
    entries.filter(({ kind }) => kind === 'untracked'),
    'left by preparing the workspace',
  )
  if (tracked.length === 0) return
  await restore.files(base, tracked)
  run.emit({ type: 'warning', message: `preparing the workspace changed ${fewOf(tracked)}: undone` })
}
