export const OUTCOMES = [
  'done',
  'blocked',
  'no-marker',
  'gate-failed',
  'gate-missing',
  'conflict',
  'missing-output',
  'no-change',
  'timeout',
  'max-turns',
  'agent-failed',
  'rate-limited',
  'no-network',
  'auth',
  'skipped',
  'taken-over',
  'interrupted',
  'lost',
] as const

/** How an attempt can end. */
export type OutcomeKind = (typeof OUTCOMES)[number]
