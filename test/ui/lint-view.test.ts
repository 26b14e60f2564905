import { expect, test } from 'vitest'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import { layOut } from '../../src/screen/layout.ts'
import { lintView } from '../../src/screen/lint-view.ts'

const found = (number: number, severity: Diagnostic['severity'], message = 'no criteria'): Diagnostic => ({
  file: `docs/tasks/T-0${number}.md`,
  line: 1,
  column: 1,
  severity,
  rule: 'missing-criteria',
  message,
})

async function shown(diagnostics: readonly Diagnostic[]): Promise<readonly string[]> {
  const screen = {
    diagnostics,
    errors: 0,
    warnings: diagnostics.length,
    checked: 30,
    fixed: [],
    renumbered: [],
  }
  const text = [...layOut(lintView(screen), { columns: 400, colour: false })].join('')
  return text.trimEnd().split('\n').slice(0, -2)
}

const from = (first: number, count: number, severity: Diagnostic['severity'] = 'warning'): Diagnostic[] =>
  Array.from({ length: count }, (_, i) => found(first + i, severity))

test('equal warnings are one, at the place of the first', async () => {
  const other = found(11, 'warning', 'another')
  expect(await shown([...from(10, 1), other, ...from(12, 15)])).toEqual([
    'docs/tasks/T-010.md:1:1 warning missing-criteria no criteria (also in T-012, T-013, T-014, T-015, T-016, T-017, ' +
      'T-018, T-019, T-020, T-021, T-022, T-023, 3 more)',
    'docs/tasks/T-011.md:1:1 warning missing-criteria another',
  ])
})

test('equal errors are one, too', async () => {
  const [only, ...others] = await shown(from(10, 20, 'error'))
  expect(only).toMatch(
    /^docs\/tasks\/T-010\.md:1:1 error missing-criteria no criteria \(also in T-011, T-012,/,
  )
  expect([only!.match(/T-0\d\d/g)?.length, others]).toEqual([20, []])
  expect(await shown([...from(10, 4), ...from(14, 4, 'error')])).toHaveLength(8)
})

test('a few of them, and more in the same file, keep a line each', async () => {
  expect(await shown(from(10, 5))).toHaveLength(5)
  const again = { ...found(10, 'error'), line: 7 }
  const lines = await shown([found(10, 'error'), again, ...from(11, 8, 'error')])
  expect(lines.map((line) => line.split(' ')[0])).toEqual([
    'docs/tasks/T-010.md:1:1',
    'docs/tasks/T-010.md:7:1',
  ])
})
