import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { PROGRAM, projectFolder } from '../repository.ts'

const shop = fileURLToPath(new URL('fixtures/shop', import.meta.url))

/** The files of the shop by path, in the order in which the folder gives them. */
function shopFiles(): [string, string][] {
  return readdirSync(shop, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(shop, path), readFileSync(path, 'utf8')])
}

/** What the program says, lint's no included. */
function print(commandLine: string, cwd: string, env: Readonly<Record<string, string>>): string {
  const command = `"${process.execPath}" "${PROGRAM}" ${commandLine} 2>&1; echo "exit $?"`
  return execFileSync('sh', ['-c', command], { cwd, env: { PATH: process.env['PATH'], ...env } }).toString()
}

it
  .skipIf(process.platform === 'win32')
  .each(['next --json --all --explain', 'prompt T-004', 'lint', 'graph --mermaid'])(
  'ralph %s says the same in any locale of UTF-8, time zone and order of files',
  (commandLine) => {
    const files = shopFiles()
    const here = print(commandLine, projectFolder(Object.fromEntries(files)), {
      TZ: 'UTC',
      LC_ALL: 'C.UTF-8',
    })
    const there = print(commandLine, projectFolder(Object.fromEntries(files.toReversed())), {
      TZ: 'Pacific/Kiritimati',
      LC_ALL: 'tr_TR.UTF-8',
      LANG: 'sv_SE.UTF-8',
    })
    expect(there).toBe(here)
    expect(here).toMatch(/exit [01]\n$/)
  },
)
