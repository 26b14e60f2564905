/** The names of the task file that a team can put its own words to, in the order of the format. */
export const ALIASED_FIELDS = [
  'Status',
  'Milestone',
  'Depends',
  'PRD Reference',
  'Touches',
  'Complexity',
  'Discipline',
  'Feature',
  'Context',
  'Agent',
  'Model',
  'Turns',
  'Timeout',
  'Priority',
  'Tags',
  'Provenance',
  'Completed',
  'Commit',
  'Cost',
] as const

export const ALIASED_STATUSES = ['TODO', 'DONE', 'BLOCKED'] as const

export const ALIASED_SECTIONS = [
  'Description',
  'Acceptance Criteria',
  'Hints',
  'Produces',
  'Comments',
  'Previous Attempts',
  'Completion Notes',
  'Blocked',
] as const
