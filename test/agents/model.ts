/** What a scripted model answers to one request. */
export type Reply =
  /** `cut`: the answer ends early, at its length limit or because a filter stops it. */
  | { readonly kind: 'say'; readonly text: string; readonly cut?: 'length' | 'filter' }
  | { readonly kind: 'call'; readonly call: Call }
  /** By the tool for it where there is one, else as a fenced block. */
  | { readonly kind: 'answer'; readonly answer: object }
  | {
      readonly kind: 'fail'
      readonly status: number
      readonly message: string
      /** The service's own name for the error. */
      readonly code?: string
      readonly retryAfter?: number
    }
  /** A page for people instead of an answer, as the log-in page of a hotel's network. */
  | { readonly kind: 'page'; readonly status: number }
  /** The connection is cut before any answer. */
  | { readonly kind: 'gone' }
  /** The connection stays open and nothing comes. */
  | { readonly kind: 'hang' }

/** A tool call, which each protocol and agent spells in its own way. */
export type Call =
  /** A path that is not absolute is one in the agent's folder. */
  | { readonly tool: 'write'; readonly path: string; readonly content: string }
  | { readonly tool: 'shell'; readonly command: string }
  | { readonly tool: 'answer'; readonly answer: object }
  | { readonly tool: 'mcp'; readonly server: string; readonly name: string; readonly input?: object }

/** A scripted model: told how many requests there were, how many tool results this one holds, and whether it asks for a turn. */
export type Model = (asked: {
  readonly request: number
  readonly results: number
  readonly isTurn: boolean
  /** What was sent. */
  readonly body: string
}) => Reply

export const say = (text: string): Reply => ({ kind: 'say', text })
export const shell = (command: string): Reply => ({ kind: 'call', call: { tool: 'shell', command } })

/** The agent's folder, as its request names it. */
export function workFolderIn(body: string): string {
  const found = /\/[^\s"'`\\<>()]*\/\d+\/work\/[^\s"'`\\<>()/]+/.exec(body)?.[0]
  if (found === undefined) throw new Error('the request does not say in which folder the agent works')
  return found
}

/** Makes these replies one after another, each once the tool of the one before has answered; the last again and again. */
export function inTurn(...replies: readonly [Reply, ...Reply[]]): Model {
  return ({ results }) => replies[Math.min(results, replies.length - 1)]!
}

/** A call as the tools on offer want it: every agent names its tools and their arguments differently. */
export function spell(
  call: Call,
  offered: readonly string[],
): { readonly name: string; readonly input: object } {
  const has = (name: string) => offered.includes(name)
  switch (call.tool) {
    case 'answer':
      return { name: 'StructuredOutput', input: call.answer }
    case 'mcp':
      // Where it is not on offer it may still be there: some agents show the tools of servers only when asked.
      return {
        name:
          offered.find((name) => name === call.name) ??
          offered.find(
            (name) =>
              name.includes(call.server) && ['_', '/'].some((mark) => name.endsWith(mark + call.name)),
          ) ??
          offered.find((name) => name.includes(call.name)) ??
          `mcp__${call.server}__${call.name}`,
        input: call.input ?? { text: 'ping' },
      }
    case 'write': {
      const { path, content } = call
      // Continue, which alone has a Checklist, spells the path otherwise than Claude Code.
      if (has('Write') && has('Checklist')) return { name: 'Write', input: { filepath: path, content } }
      if (has('Write')) return { name: 'Write', input: { file_path: path, content } }
      if (has('write_file')) return { name: 'write_file', input: { file_path: path, content } }
      if (has('write')) return { name: 'write', input: { filePath: path, content } }
      if (has('create')) return { name: 'create', input: { path, file_text: content } }
      return spell({ tool: 'shell', command: `printf '%s' '${content}' > '${path}'` }, offered)
    }
    case 'shell': {
      const { command } = call
      if (has('exec_command')) return { name: 'exec_command', input: { cmd: command, yield_time_ms: 30_000 } }
      const name = ['Bash', 'bash', 'run_shell_command', 'shell_command'].find(has) ?? 'shell'
      const extra =
        name === 'run_shell_command' ? { is_background: false } : name === 'bash' ? { mode: 'sync' } : {}
      return { name, input: { command, description: 'run', ...extra } }
    }
  }
}
