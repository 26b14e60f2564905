import type { RunPorts } from '../run/ports.ts'

/** The questions that a run can ask a person. */
export type Questions = Pick<RunPorts, 'ask' | 'askToCommit' | 'reply'>

/** For a run without a person to ask. */
export const NO_QUESTIONS: Questions = { ask: null, askToCommit: null, reply: null }
