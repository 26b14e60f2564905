import { expect, it } from 'vitest'
import { isMilestone } from '../../src/backlog/milestone.ts'

it.each([
  ['2 — Payments', '2', true],
  ['2 — Payments', 'payments', true],
  ['02: Payments', '2', true],
  ['Phase 2: Payments', '2', true],
  ['Milestone 2 — Payments', 'Payments', true],
  ['M2 Payments', '2', true],
  ['Phase 2: Payments', 'phase 2: payments', true],
  ['Phase 12: Payments', '2', false],
  ['Version 2', '2', false],
  ['2.1 — Refunds', '2', false],
])('%s is the milestone %s: %s', (milestone, asked, expected) => {
  expect(isMilestone(milestone, asked)).toBe(expected)
})
