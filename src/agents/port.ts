import type { CageNeeds } from '../base/cage-needs.ts'
import type { CagedAction, McpServer, Usage } from '../base/nouns.ts'
import type { PersonTerminal } from '../process/terminal.ts'

/**
 * The port between ralph and an agent: the request, the events, the ways to end.
 * `run` rejects only with what `emit` throws.
 */
export interface Agent extends Pick<Provider, 'name' | 'alwaysReads' | 'takesMcpServers' | 'resumes'> {
  run(request: AgentRequest, emit: (event: AgentEvent) => void): Promise<AgentOutcome>
  /** Starts its interactive program in the person's terminal and waits for its end; absent if it has none. */
  byHand?(
    request: AgentRequest,
    at: { readonly session: Session; readonly terminal: PersonTerminal },
  ): Promise<HandEnd>
}

/** Which conversation a person continues: a new one, the last one in that folder, or the one with that id. */
export type Session = 'new' | 'last' | { readonly id: string }

/** How a person left an agent's interactive program. */
export interface HandEnd {
  readonly end: Extract<AgentEnd, { kind: 'done' | 'interrupted' | 'crashed' }>
  /** Its exit code; null if it was ended, or never started. */
  readonly code: number | null
  readonly seconds: number
}

/** All that is passed to an agent, besides the repository. */
export interface AgentRequest {
  readonly prompt: string
  /** The folder that it works in: the root of a checkout. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly model: string | null
  /** The conversation to go on with; absent for a new one. */
  readonly resume?: Conversation | undefined
  readonly limits: AgentLimits
  readonly permission: Permission
  /** The shape of an answer, if its final message must be an answer instead of work with a marker; absent for a task. */
  readonly answer?: AnswerShape
  /** The commands of the project's gates: an agent may be allowed to run just these. */
  readonly gateCommands: readonly string[]
  readonly mcpServers: Readonly<Record<string, McpServer>>
  /** A folder that one of these servers writes to, besides the repository; null if there is none. */
  readonly signalFolder?: string | null
  /** For how many milliseconds the agent has waited for a person so far: its limits do not count them. */
  readonly held?: () => number
  /** What `command` and `script` agents get in the environment. */
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
  /** Receives each chunk of the agent's output at once, for the log. */
  readonly log: (chunk: Uint8Array, stream: 'stdout' | 'stderr') => void
}

/** An agent's conversation, and all that it has used so far. */
export interface Conversation {
  readonly session: string
  readonly used: Usage
}

export interface AgentLimits {
  readonly turns: number
  readonly seconds: number
  /** The agent counts as stalled after this long without any event or running tool. */
  readonly stallSeconds: number
  readonly budgetUsd: number | null
  /** Output, and input that does not come from a cache. */
  readonly tokens: number | null
}

/** The shape of an answer: a JSON Schema, for an agent that can be held to one. */
export interface AnswerShape {
  readonly schema: object
  /** The passage of the prompt that has it, for agents that are not held to it by an option of their own. */
  readonly passage: string
}

/**
 * `read` may only read, with `web` also the web; `edit` may change the repository and run the gates; `full` may do
 * anything; `custom` depends on the arguments. In a cage an agent turns its own sandbox off: they cannot be nested.
 */
export type Permission =
  | { readonly level: 'read'; readonly web: boolean; readonly isCaged?: boolean }
  | { readonly level: 'edit'; readonly isCaged?: boolean }
  | { readonly level: 'full' }
  | { readonly level: 'custom'; readonly args: readonly string[] }

export type AgentEvent =
  | { readonly type: 'started'; readonly pid: number }
  | { readonly type: 'text'; readonly text: string }
  /** A tool starts (`status: 'running'`) or has ended; `summary` is one readable line. */
  | {
      readonly type: 'tool'
      readonly id: string
      readonly name: string
      readonly summary: string
      readonly status: 'running' | 'ok' | 'failed' | 'denied'
    }
  /** The conversation that it could go on with. */
  | { readonly type: 'session'; readonly session: string }
  /** The sum so far, each time the agent reports it. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The agent waits for its service and will try again by itself. */
  | { readonly type: 'retrying'; readonly reason: string; readonly until: Date | null }
  | { readonly type: 'warning'; readonly message: string }
  /** The cage refused an action of the agent. */
  | { readonly type: 'caged'; readonly action: CagedAction }

/** An agent that reviews, and those that replace it. */
export interface Reviewer {
  readonly choices: readonly [AgentChoice, ...AgentChoice[]]
  /** Whether work waits until it has been reviewed. */
  readonly isRequired: boolean
}

/** How an agent ended, with a reason that a person can act on. */
export interface AgentOutcome {
  readonly end: AgentEnd
  /** The agent's final message as the provider found it, without a marker; it becomes the completion notes. */
  readonly finalMessage: string
  readonly usage: Usage
  readonly sessionId: string | null
  /** The model that really answered, if the stream names it. */
  readonly model: string | null
  /** Tools that the permission level denied. */
  readonly denied: readonly string[]
  /** How many tools it has called. */
  readonly toolCalls: number
  readonly seconds: number
}

type Failed<Kind> = Kind extends string ? { readonly kind: Kind; readonly reason: string } : never

/** `interrupted`: by ralph's signal; `crashed`: by another signal or an exit code, or it never started; `no-network`: the service could not be reached. */
export type AgentEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'no-marker' }
  | { readonly kind: 'interrupted' }
  | Failed<'blocked' | 'max-turns' | 'timeout' | 'auth' | 'overloaded'>
  /** `of`: what it has used up; dollars if absent. */
  | (Failed<'budget'> & { readonly of?: 'tokens' })
  /** `isPage`: something on the way answers with a page for people, so that a person has to do something. */
  | (Failed<'no-network'> & { readonly isPage?: boolean })
  | Failed<'stalled' | 'crashed'>
  /** `unpaid`: it is about money, if waiting does not help. */
  | (Failed<'rate-limited'> & { readonly until: Date | null; readonly unpaid?: boolean })
  /** `hopeless`: this agent would be refused again, at this task or at any; null if another attempt may help. */
  | (Failed<'refused'> & { readonly hopeless: 'task' | 'agent' | null })

/** What the file of one provider defines. */
export interface Provider {
  /** The name in the registry. */
  readonly name: string
  /** The command that installs it. */
  readonly install: string
  /** The oldest version that is known to work. */
  readonly minimumVersion: string | null
  /** Its conversations are deleted together with the cage. */
  readonly forgetsInCage?: boolean
  /** It prints nothing before its end, so only the time limit applies, not the stall limit. */
  readonly silent?: boolean
  /** It writes to a terminal, with colours and progress bars. */
  readonly pty?: boolean
  /** It can get MCP servers for a run, and calls their tools without asking. */
  readonly takesMcpServers?: boolean
  /** It can be held to the schema of an answer. */
  readonly takesSchema?: boolean
  /** It can go on with a conversation that it has ended. */
  readonly resumes?: boolean
  /** Whether it asks for a host only in the background, and can do without: nobody needs to hear that the cage refuses it. */
  readonly isNeedless?: (host: string) => boolean
  /** What is wrong with a folder for its settings: one sentence for a person; null if it will read them. */
  readonly doubt?: (folder: string) => string | null
  /** It reports its cost, so that a budget can limit it. */
  readonly tellsCost?: boolean
  /** It reports its tokens. */
  readonly tellsTokens?: boolean
  /** Whether a path of the repository is configuration that it reads at its start, whatever options ralph passes. */
  readonly alwaysReads?: (path: string) => boolean
  /** What its program needs from the machine in a cage; absent if unknown. */
  readonly cageNeeds?: (env: AgentRequest['env']) => CageNeeds
  readonly preflight: Preflight
  invocation(request: AgentRequest): Invocation
  /**
   * The command for its interactive program. The person answers its questions of permission; standard input is the
   * terminal.
   */
  readonly interactive?: (request: AgentRequest, session: Session) => Omit<Invocation, 'stdin'>
  /** Creates the reader for one run's stream; `now` is for limits that end at a time of day or after a delay. */
  reader(request: AgentRequest, now: () => Date): StreamReader
}

/** What prevents the agent from starting here (a login, a program), one sentence each with what to do; empty if nothing does. */
export type Preflight = (context: {
  readonly env: AgentRequest['env']
  readonly cwd: string
}) => readonly string[] | Promise<readonly string[]>

/** Stands for the private folder. No argument from a person can contain it, as NUL ends a text there. */
export const FOLDER = '\0folder\0'

export interface Invocation {
  readonly program: string
  readonly args: readonly string[]
  /** Added to the request's environment; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** All of its standard input. */
  readonly stdin: string
  /** Files to write into a private folder before the start, and to remove afterwards: `FOLDER` in args and env is that folder. */
  readonly files: Readonly<Record<string, string>>
}

/** Turns one run's stdout into events, line by line, and at the end into an outcome. Never throws. */
export interface StreamReader {
  /** One line without its ending. */
  line(text: string): readonly StreamEvent[]
  /** The same for stderr, for an agent that reports refusals of its service only there. */
  complaint?(text: string): readonly StreamEvent[]
  /** Called once, after the process has ended; if ralph ended it after its `result`, the exit code is 0. */
  end(exit: Exit): StreamEnd
}

/** How a program ended, and the end of its stderr. */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
  readonly stderr: string
}

/** The events of a reader. */
export type StreamEvent =
  | Exclude<AgentEvent, { type: 'started' | 'session' | 'caged' }>
  | { readonly type: 'session'; readonly sessionId: string | null; readonly model: string | null }
  /** The agent has sent its result: ralph does not wait long for what still runs. */
  | { readonly type: 'result' }

/** How it ended according to the stream; limits, stalls and ralph's signals come from the runtime. */
export interface StreamEnd {
  /** `finished`: a regular end, for which the marker in the final message decides. */
  readonly end:
    | { readonly kind: 'finished' }
    | Exclude<AgentEnd, { kind: 'done' | 'blocked' | 'no-marker' | 'timeout' | 'stalled' | 'interrupted' }>
  readonly finalMessage: string
  /** The model, if only files of the agent's name it. */
  readonly model?: string | null
  /** How the final message seems to be cut off; it counts only if there is no marker. */
  readonly cutOff?: string | undefined
  /** For an agent whose marker is not in its final message: the text whose last non-empty line may be the marker. */
  readonly markerTail?: string
  readonly denied: readonly string[]
}

/** An agent, and how it is to work on the task. */
export interface AgentChoice {
  readonly name: string
  /** With its version if that is known: `claude 2.1.326`. */
  readonly label: string
  readonly model: string | null
  readonly permission: Permission
  readonly mcpServers: Readonly<Record<string, McpServer>>
  /** Whether it gets ralph's own tools. */
  readonly hasTools: boolean
  /** Whether it gets the schema of an answer by an option, so that its prompt need not have it. */
  readonly takesSchema: boolean
}

/** A question to an agent outside of a task: the agent only reads, and answers in a fixed shape. */
export interface AgentQuestion {
  /** The name of its logs, and of it on the screen. */
  readonly id: string
  /** The document that it is about. */
  readonly file: string
  readonly prompt: string
  readonly answer: AnswerShape
  readonly env: Readonly<Record<string, string>>
  /** How often it has been asked, and may be. */
  readonly time: number
  readonly most: number
}

/** The result of a question. */
export type AgentReply =
  | {
      readonly kind: 'answered'
      readonly text: string
      readonly agent: string
      readonly model: string | null
      readonly usage: Usage
      readonly seconds: number
    }
  /** `asks`: the agent itself reported that it needs a person. */
  | {
      readonly kind: 'stopped'
      readonly why: 'interrupted' | 'budget' | 'asks' | 'failed'
      readonly reason: string
    }
