import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { withAsciiSigns } from '../../src/screen/style.ts'
import { ralph } from './ralph.ts'

const shop = fileURLToPath(new URL('fixtures/shop', import.meta.url))

/** Each is the command line of one file in `golden/`: its exit code, then what it printed. */
const COMMAND_LINES = [
  'ralph --help',
  'ralph next',
  'ralph next --all',
  'ralph next --explain',
  'ralph next --json --all --explain',
  'ralph next --help',
  'ralph list',
  'ralph list --milestone 2',
  'ralph list --status BLOCKED --json',
  'ralph show T-004',
  'ralph show 9',
  'ralph show t-2 --json',
  'ralph lint',
  'ralph lint --json',
  'ralph graph',
  'ralph graph --todo',
  'ralph graph T-005',
  'ralph graph T-005 --todo --json',
  'ralph graph --json',
  'ralph graph --mermaid',
  'ralph graph --dot',
]

const SCREENS = COMMAND_LINES.filter((line) => !/--json|--mermaid|--dot/.test(line))

describe('each command on the shop', () => {
  it.each(COMMAND_LINES)('%s, in a pipe', async (commandLine) => {
    const { code, stdout, stderr } = await ralph(words(commandLine), { cwd: shop })
    expect(stderr).toBe('')
    await expect(`exit ${code}\n${stdout}`).toMatchFileSnapshot(`golden/${commandLine}.txt`)
  })

  it.each(SCREENS)('%s, in a terminal of 80 columns', async (commandLine) => {
    const { stdout } = await ralph(words(commandLine), { cwd: shop, columns: 80 })
    const visible = stdout.replaceAll('\u001b', '␛')
    await expect(visible).toMatchFileSnapshot(`golden/${commandLine} (80 columns).txt`)
  })

  it.each(SCREENS)('%s, where the locale has no UTF-8', async (commandLine) => {
    const wide = await ralph(words(commandLine), { cwd: shop, columns: 80 })
    const { stdout } = await ralph(words(commandLine), { cwd: shop, columns: 80, env: { LANG: 'C' } })
    expect(stdout).toBe(withAsciiSigns(wide.stdout))
    expect(withAsciiSigns(stdout)).toBe(stdout)
  })
})

function words(commandLine: string): string[] {
  return commandLine.split(' ').slice(1)
}
