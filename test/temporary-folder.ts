import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes the folder for all that tests write; it is gone when they are over. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-tests-'))
  // Servers of other users have their files in it.
  chmodSync(folder, 0o711)
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder
  // Where runs of tests make their slots.
  process.env['XDG_CACHE_HOME'] = join(folder, 'cache')
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
