import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the demo works off five tasks and ends with their commits', async () => {
  const demo = fileURLToPath(new URL('../../examples/demo.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [demo])
  expect(stdout).toContain('5 done')
  expect(stdout).toMatch(/✗ test/)
  const [, log] = stdout.split('$ git log\n')
  const subjects = [...log!.matchAll(/^[0-9a-f]+ (T-\d+: .+)$/gm)].map((match) => match[1]!.slice(0, 5))
  expect(subjects).toEqual(['T-006', 'T-005', 'T-004', 'T-003', 'T-002'])
})
