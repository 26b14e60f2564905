import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentHome } from '../base/cage-needs.ts'
import { real, type Rule } from './mounts.ts'

/** A larger file of an agent's state is shown as it is, which cannot be written. */
const MOST_COPIED = 32 * 1024 * 1024

/**
 * Lays out an agent's own folder as it is in a cage: a copy of its files, which it may write as it likes and which is
 * gone with the cage, so that no setting, hook or server of its own outlasts it; and in that what it keeps, as it is.
 */
export function layOutHome({ folder, keeps }: AgentHome, copy: string): readonly Rule[] {
  mkdirSync(copy)
  // What the agent would do itself at its first start, which in a cage it cannot.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const rules: Rule[] = [{ kind: 'write', path: folder, from: copy }]
  for (const name of keeps)
    if (!/\.\w+$/.test(name)) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    // A link that leads out of the folder is not the agent's own state.
    if (real(path) !== join(real(folder) ?? folder, name)) continue
    const facts = statSync(path)
    const isKept = keeps.includes(name)
    if (facts.isDirectory()) mkdirSync(join(copy, name))
    else if (!facts.isFile()) continue
    else if (isKept || facts.size > MOST_COPIED) writeFileSync(join(copy, name), '')
    else {
      copyFileSync(path, join(copy, name))
      continue
    }
    rules.push(isKept ? { kind: 'write', path } : { kind: 'read', path })
  }
  return rules
}
