import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONFIG_FILES } from '../base/config-files.ts'
import type { Gate } from '../events/gate.ts'
import type { AttemptPlan } from './job.ts'
import type { Run } from '../run/run.ts'
import type { Work } from '../workspace/workspace.ts'

/** Changed files by which a gate's verdict can be had without the work; the commit names them. */
export async function changedGates(run: Run, plan: AttemptPlan, work: Work): Promise<readonly string[]> {
  const { workspace } = run.ports
  const { gates } = run.options
  const decides = gateFiles(gates)
  const changed: string[] = []
  for (const { path } of work.changes) {
    const name = path.startsWith(workspace.prefix) ? path.slice(workspace.prefix.length) : path
    if (decides(name) || (name === 'package.json' && (await scriptsDiffer(run, plan, path))))
      changed.push(path)
  }
  return changed
}

/** Tells the configuration, the project's own hooks, and what a gate's command names or is known to read. */
function gateFiles(gates: readonly Gate[]): (name: string) => boolean {
  const words = new Set(gates.flatMap(({ command }) => command.split(/[\s"'`;&|()<>=]+/).map(withoutDot)))
  return (name) => {
    if (CONFIG_FILES.some((file) => file === name) || name.startsWith('.husky/')) return true
    if (/^(?:GNUm|m|M)akefile$/.test(name)) return words.has('make')
    return words.has(name)
  }
}

function withoutDot(word: string): string {
  return word.startsWith('./') ? word.slice(2) : word
}

/** A package.json changes with every dependency; only its scripts, and ralph's own part, decide anything. */
async function scriptsDiffer({ ports }: Run, { base }: AttemptPlan, path: string): Promise<boolean> {
  const file = join(ports.workspace.root, 'package.json')
  const before = await ports.workspace.baseText(base, path)
  const now = existsSync(file) ? readFileSync(file, 'utf8') : null
  return decidingParts(before) !== decidingParts(now)
}

function decidingParts(text: string | null): string {
  try {
    const read: unknown = JSON.parse(text ?? '{}')
    if (typeof read !== 'object' || read === null) return ''
    return JSON.stringify(['scripts' in read ? read.scripts : null, 'ralph' in read ? read.ralph : null])
  } catch {
    // Not JSON: then no script can be run from it either.
    return text ?? ''
  }
}
