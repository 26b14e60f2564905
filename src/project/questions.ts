import type { RunPorts } from '../run/ports.ts'

/** What a run can ask a person. */
export type Questions = Pick<RunPorts, 'ask' | 'askToCommit' | 'reply'>

/** Nobody is there to be asked. */
export const NO_QUESTIONS: Questions = { ask: null, askToCommit: null, reply: null }
