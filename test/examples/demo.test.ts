import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test(
  'the demo works off six tasks, the last two at once, and ends with their commits',
  { timeout: 180_000 },
  async () => {
    const demo = fileURLToPath(new URL('../../examples/demo.mjs', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [demo])
    expect(stdout).toContain('4 done')
    expect(stdout).toMatch(/At once\n {2}T-006 .*\n {2}T-009 /)
    expect(stdout).toContain('2 done')
    expect(stdout).toMatch(/✗ test/)
    const [, log] = stdout.split('$ git log\n')
    const subjects = [...log!.matchAll(/^[0-9a-f]+ (T-\d+: .+)$/gm)].map((match) => match[1]!.slice(0, 5))
    // Of the last two either may have been ready first.
    expect(subjects.slice(0, 2).toSorted()).toEqual(['T-006', 'T-009'])
    expect(subjects.slice(2)).toEqual(['T-005', 'T-004', 'T-003', 'T-002'])
  },
)
