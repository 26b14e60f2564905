/** The moments between two side effects of a run, roughly in order: a crash at any of them must lose nothing. */
export type Checkpoint =
  | 'lock-taken'
  | 'run-noted'
  | 'candidates-found'
  | 'attempt-noted'
  | 'agent-ended'
  | 'work-taken'
  | 'gates-ended'
  | 'attempt-kept'
  | 'candidate-kept'
  | 'committed'
  | 'published'
  | 'entered'
  | 'blocking-noted'
  | 'block-committed'
  | 'candidates-dropped'
  | 'run-cleared'

/** Called at each; a test kills the run there. */
export type OnCheckpoint = (name: Checkpoint) => void
