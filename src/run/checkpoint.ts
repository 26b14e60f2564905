/** The moments between two side effects of a run, in their order: a crash at any of them must lose nothing. */
export const CHECKPOINTS = [
  'lock-taken',
  'run-noted',
  'attempt-noted',
  'agent-ended',
  'settings-restored',
  'refs-restored',
  'gates-ended',
  'attempt-snapshot',
  'attempt-kept',
  'head-folded',
  'files-restored',
  'committing-noted',
  'file-completed',
  'progress-added',
  'committed',
  'sealed',
  'entered',
  'tree-put-back',
  'blocking-noted',
  'file-blocked',
  'block-committed',
  'run-cleared',
] as const

export type Checkpoint = (typeof CHECKPOINTS)[number]
