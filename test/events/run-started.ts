import type { RunStarted } from '../../src/engine/events/event.ts'

/** The first event of a run, with what a test wants to be otherwise. */
export function runStarted(change: Partial<RunStarted> = {}): RunStarted {
  return {
    type: 'run-started',
    version: 1,
    run: 'r',
    root: '/work/shop',
    branch: 'main',
    head: '91c2d07aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    agent: 'claude',
    gates: [],
    sandbox: { on: false, reason: null },
    loop: true,
    jobs: 1,
    counts: { TODO: 3, DONE: 2, BLOCKED: 1 },
    budget: null,
    queue: null,
    ...change,
  }
}
