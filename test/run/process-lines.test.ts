import { expect, it } from 'vitest'
import { processLines } from '../../src/cli/commands/doctor.ts'

it('draws processes as the tree that they are', () => {
  const living = [
    { pid: 10, parent: 1, command: 'claude -p' },
    { pid: 11, parent: 10, command: 'sh -c npm test' },
    { pid: 12, parent: 11, command: 'node  test.mjs' },
    { pid: 13, parent: 10, command: 'x'.repeat(200) },
    { pid: 20, parent: 1, command: 'sleep 9' },
  ]
  expect(processLines(living)).toEqual([
    '10 claude -p',
    '├─ 11 sh -c npm test',
    '│  └─ 12 node test.mjs',
    `└─ 13 ${'x'.repeat(96)}…`,
    '20 sleep 9',
  ])
})

it('draws nothing where nothing is alive', () => {
  expect(processLines([])).toEqual([])
})
