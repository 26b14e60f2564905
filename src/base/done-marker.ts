/** What an agent writes on a line of its own when it is done: the prompt asks for it, and the reader of its last message looks for it. */
export const DONE_MARKER = '<TASK_DONE>'
