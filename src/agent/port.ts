import type { CageNeeds } from '../base/cage-needs.ts'
import type { McpServer } from '../base/mcp-server.ts'
import type { CagedAction } from '../events/caged.ts'
import type { Usage } from '../events/usage.ts'
import type { PersonTerminal } from '../process/terminal.ts'

/**
 * The port between ralph and an agent: what is asked, what is heard back, how it can end.
 * `run` never throws and always ends with exactly one `finished` event.
 */
export interface Agent {
  readonly name: string
  readonly obeysAnyway?: Provider['obeysAnyway']
  /** Whether the servers of a request reach it. */
  readonly takesMcpServers?: boolean
  run(request: AgentRequest): AsyncIterable<AgentEvent>
  /** Has a person drive its own interactive program in their terminal, to its end. Without it the agent has none. */
  byHand?(
    request: AgentRequest,
    at: { readonly session: Session; readonly terminal: PersonTerminal },
  ): Promise<HandEnd>
}

/** Which conversation a person goes on with: one of its own, the last one in that folder, or that of an id. */
export type Session = 'new' | 'last' | { readonly id: string }

/** How a person has left an agent's interactive program. */
export interface HandEnd {
  readonly end: Extract<AgentEnd, { kind: 'done' | 'interrupted' | 'crashed' }>
  /** Its exit code; null where it was ended, or never started. */
  readonly code: number | null
  readonly seconds: number
}

/** Everything that an agent is told, besides what stands in the repository. */
export interface AgentRequest {
  readonly prompt: string
  /** The folder that it works in: the root of a checkout. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly model: string | null
  readonly limits: AgentLimits
  readonly permission: Permission
  /** Where its final message must be an answer in a shape, and no work with a marker; absent for a task. */
  readonly answer?: AnswerShape
  /** The commands of the project's gates: an agent may be allowed to run just these. */
  readonly gateCommands: readonly string[]
  readonly mcpServers: Readonly<Record<string, McpServer>>
  /** A folder that one of these servers writes to, besides the repository; null where none does. */
  readonly signalFolder?: string | null
  /** For how many milliseconds the agent has waited for a person so far: its limits count none of them. */
  readonly held?: () => number
  /** What `command` and `script` agents are told through the environment. */
  readonly task: {
    readonly id: string
    readonly file: string
    readonly attempt: number
    readonly notesFile: string
    readonly script: string | null
  }
  /** Aborting it ends the agent: its reason is `'interrupt'`, or `'now'` for at once. */
  readonly signal: AbortSignal
  /** Aborting it ends at once what an interrupted agent still has running: the second Ctrl-C. */
  readonly killSignal?: AbortSignal | undefined
  /** Takes each chunk that the agent prints, as it prints it, for the log. */
  readonly log: (chunk: Uint8Array, stream: 'stdout' | 'stderr') => void
}

export interface AgentLimits {
  readonly turns: number
  readonly seconds: number
  /** Without any event for this long, and no tool at work, the agent counts as stalled. */
  readonly stallSeconds: number
  readonly budgetUsd: number | null
}

/** What an answer must look like: as a JSON Schema, for an agent that can be held to one. */
export interface AnswerShape {
  readonly schema: object
}

/** `read` may only look, also on the web where that is said; `edit` may change the repository and run the gates; `full` may do anything; `custom` is up to the arguments given. In a cage, an agent that has a sandbox of its own leaves that off: one cannot be made in another. */
export type Permission =
  | { readonly level: 'read'; readonly web: boolean; readonly isCaged?: boolean }
  | { readonly level: 'edit'; readonly isCaged?: boolean }
  | { readonly level: 'full' }
  | { readonly level: 'custom'; readonly args: readonly string[] }

export type AgentEvent =
  | { readonly type: 'started'; readonly pid: number }
  | { readonly type: 'text'; readonly text: string }
  /** A tool begins (`status: 'running'`) or has ended; `summary` is one line that a person understands. */
  | {
      readonly type: 'tool'
      readonly id: string
      readonly name: string
      readonly summary: string
      readonly status: 'running' | 'ok' | 'failed' | 'denied'
    }
  /** The sum so far, each time the agent tells it. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The agent itself waits for its service and will try again. */
  | { readonly type: 'retrying'; readonly reason: string; readonly until: Date | null }
  | { readonly type: 'warning'; readonly message: string }
  /** The cage refused what it did. */
  | { readonly type: 'caged'; readonly action: CagedAction }
  | { readonly type: 'finished'; readonly outcome: AgentOutcome }

/** How an agent ended, with a reason that a person can act on. */
export interface AgentOutcome {
  readonly end: AgentEnd
  /** What the provider says is the agent's final message, without a marker; it becomes the completion notes. */
  readonly finalMessage: string
  readonly usage: Usage
  readonly sessionId: string | null
  /** The model that really answered, where the stream tells it. */
  readonly model: string | null
  /** Tools that the permission level denied. */
  readonly denied: readonly string[]
  readonly seconds: number
}

export type AgentEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'blocked'; readonly reason: string }
  | { readonly kind: 'no-marker' }
  | { readonly kind: 'max-turns'; readonly reason: string }
  | { readonly kind: 'timeout'; readonly reason: string }
  | { readonly kind: 'budget'; readonly reason: string }
  | { readonly kind: 'auth'; readonly reason: string }
  /** `unpaid`: if waiting does not mend it, it is about money. */
  | {
      readonly kind: 'rate-limited'
      readonly reason: string
      readonly until: Date | null
      readonly unpaid?: boolean
    }
  | { readonly kind: 'overloaded'; readonly reason: string }
  /** The service could not be reached. */
  | { readonly kind: 'no-network'; readonly reason: string }
  /** `hopeless`: the same would be refused again, for this task or for any in this run; null where another attempt may help. */
  | { readonly kind: 'refused'; readonly reason: string; readonly hopeless: 'task' | 'run' | null }
  | { readonly kind: 'stalled'; readonly reason: string }
  /** Ended by our own signal. */
  | { readonly kind: 'interrupted' }
  /** Ended by somebody else's signal, by an exit code, or never started. */
  | { readonly kind: 'crashed'; readonly reason: string }

/** What one provider's file is made of. */
export interface Provider {
  /** As the registry has it. */
  readonly name: string
  /** How to get it, one command. */
  readonly install: string
  /** The oldest version that is known to work. */
  readonly minimumVersion: string | null
  /** What it remembers of a conversation is gone with the cage that it was in. */
  readonly forgetsInCage?: boolean
  /** It prints nothing before its end, so that its silence is no stall: only the time limit holds it. */
  readonly silent?: boolean
  /** It prints to a terminal, with colours and progress bars. */
  readonly pty?: boolean
  /** It is given MCP servers for a run, and calls their tools without asking. */
  readonly takesMcpServers?: boolean
  /** It tells what it has cost, so that a budget can hold it. */
  readonly tellsCost?: boolean
  /** Whether a path of the repository holds configuration that it obeys at its start, whatever ralph tells it. */
  readonly obeysAnyway?: (path: string) => boolean
  /** What its program needs of the machine in a cage; without it, nothing is known of that. */
  readonly cageNeeds?: (env: AgentRequest['env']) => CageNeeds
  readonly preflight: Preflight
  invocation(request: AgentRequest): Invocation
  /**
   * How its own interactive program is started for a person, whose questions of permission are theirs to answer. What it
   * reads on standard input is the terminal.
   */
  readonly interactive?: (request: AgentRequest, session: Session) => Omit<Invocation, 'stdin'>
  /** A fresh reader for one run's stream; `now` is for a stream that tells a reset as a time of day or a delay. */
  reader(request: AgentRequest, now: () => Date): StreamReader
}

/** What keeps the agent from beginning here (a login, a program), one sentence each with what to do; empty when all is well. */
export type Preflight = (context: {
  readonly env: AgentRequest['env']
  readonly cwd: string
}) => readonly string[] | Promise<readonly string[]>

/** Stands for the private folder. No argument that a person gives can hold it: NUL ends a text there. */
export const FOLDER = '\0folder\0'

export interface Invocation {
  readonly program: string
  readonly args: readonly string[]
  /** Laid over the request's environment; undefined takes a variable away. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** What it reads on standard input, to its end. */
  readonly stdin: string
  /** Files to write into a private folder before the start, and to remove after: `FOLDER` in args and env stands for that folder. */
  readonly files: Readonly<Record<string, string>>
}

/** Turns one run's stdout into events, line by line, and says at the end what it all meant. Never throws. */
export interface StreamReader {
  /** One line without its ending. */
  line(text: string): readonly StreamEvent[]
  /** The same of stderr, for an agent that tells only there that its service refuses it. */
  complaint?(text: string): readonly StreamEvent[]
  /** Called once, when the process is gone; one that ralph ended after its `result` counts as exit code 0. */
  end(exit: Exit): StreamEnd
}

/** How a program left, and the last that it said on stderr. */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
  readonly stderr: string
}

/** What a reader can see; the runtime adds `started` and `finished`. */
export type StreamEvent =
  | Exclude<AgentEvent, { type: 'started' | 'caged' | 'finished' }>
  | { readonly type: 'session'; readonly sessionId: string | null; readonly model: string | null }
  /** The agent has said its last: what still runs after this is not waited for long. */
  | { readonly type: 'result' }

/** What the stream says of how it ended; limits, stalls and our own signals are the runtime's to tell. */
export interface StreamEnd {
  /** `finished` stands for a proper end whose final message decides by its marker. */
  readonly end:
    | { readonly kind: 'finished' }
    | Exclude<AgentEnd, { kind: 'done' | 'blocked' | 'no-marker' | 'timeout' | 'stalled' | 'interrupted' }>
  readonly finalMessage: string
  /** The stream lets us think that the final message is not whole, and how; it counts only where there is no marker. */
  readonly cutOff?: string | undefined
  /** For an agent whose marker stands outside its final message: the text of which only the last non-empty line can be one. */
  readonly markerTail?: string
  readonly usage: Usage
  readonly denied: readonly string[]
}
