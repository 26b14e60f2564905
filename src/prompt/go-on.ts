import { DONE_MARKER } from '../base/names.ts'

/** The prompt in a conversation that was cut off: it already holds the task, and the agent's own words. */
export function goOnText(reason: string): string {
  return [
    `You were stopped in the middle of your work, through no fault of yours: ${reason}`,
    'All files are as you left them. What you had started (a server, a test run) has ended.',
    'Go on from there, and end as the task says.',
    ENDS,
  ].join('\n\n')
}

/** The question to an agent that has ended, and did not say how its task stands. */
export function askText(): string {
  return [
    'You ended, and did not say how the task stands: is it done, or what keeps you from doing it?',
    'If something is missing that you can do yourself, do it first.',
    ENDS,
  ].join('\n\n')
}

/** The question to an agent that has changed tests, and did not say why. */
export function whyText(changes: readonly string[]): string {
  return [
    'The work has passed. These tests were there before, and are not as they were:',
    changes.map((change) => `- ${change.replace(/[: ]+$/, '')}`).join('\n'),
    'Say in one line for each why it had to change, with the name of the test. Change no file.',
  ].join('\n\n')
}

const ENDS = [
  'If the task is done, end with this, on a line of its own:',
  DONE_MARKER,
  'If only a person can help, end with this instead:',
  '<TASK_BLOCKED reason="what is missing, in one sentence">',
].join('\n\n')
