import { NO_NEEDS } from '../../base/cage-needs.ts'
import { whyNoPty } from '../../process/pty.ts'
import { startProcess } from '../../process/start.ts'
import { readLastLine } from '../marker.ts'
import {
  FOLDER,
  type AgentRequest,
  type Exit,
  type Preflight,
  type Provider,
  type StreamEnd,
  type StreamReader,
} from '../port.ts'
import { failureOf, PlainOutput } from './plain-output.ts'
import { taskEnvironment } from './request.ts'
import { UNKNOWN_USAGE } from '../../events/usage.ts'

const HOW_TO_GIVE_ONE = 'set `command` in the config, or give --command'

/** The shell's own name in what it complains of, by which that is told from the complaints of what it runs. */
const SHELL = 'ralph-command'

/** Any program as an agent: the prompt on its stdin, its marker as the last line of its stdout. */
export function commandProvider(command: string | null, pty = false): Provider {
  const line = command?.trim() ?? ''
  return {
    name: 'command',
    install: HOW_TO_GIVE_ONE,
    minimumVersion: null,
    pty,
    // Nothing is known of it but that it is a person's choice: its hosts stand in the configuration.
    cageNeeds: () => ({ ...NO_NEEDS, variables: 'all' }),
    preflight: async (context) => {
      if (line === '') return [`The agent "command" has no command to run: ${HOW_TO_GIVE_ONE}.`]
      const problem = pty ? await whyNoPty() : null
      if (problem !== null) return [`The agent "command" is to have a terminal (pty), and ${problem}.`]
      const program = programOf(line)
      if (program === null || (await isKnown(program, context))) return []
      return [`The agent "command" finds no program "${program}" to run: ${HOW_TO_GIVE_ONE}.`]
    },
    invocation: (request) => ({
      program: 'sh',
      args: ['-c', line, SHELL],
      env: taskEnvironment(request),
      stdin: request.prompt,
      files: {},
    }),
    interactive: (request) => ({
      program: 'sh',
      args: ['-c', line, SHELL],
      // Its standard input is the terminal.
      env: { ...taskEnvironment(request), RALPH_PROMPT_FILE: `${FOLDER}/prompt.md` },
      files: { 'prompt.md': request.prompt },
    }),
    reader: (request) => new CommandReader(line, request, pty),
  }
}

class CommandReader implements StreamReader {
  readonly #line: string
  readonly #prompt: string
  readonly #output: PlainOutput
  readonly #isAsked: boolean
  readonly #pty: boolean

  constructor(line: string, request: AgentRequest, pty: boolean) {
    this.#pty = pty
    this.#isAsked = request.answer !== undefined
    this.#line = line
    this.#prompt = request.prompt
    this.#output = new PlainOutput(request)
  }

  line(text: string): ReturnType<StreamReader['line']> {
    return this.#output.line(text)
  }

  end(exit: Exit): StreamEnd {
    const tail = this.#output.tail
    const { marker, message } = readLastLine(tail, this.#prompt)
    // A program may well say in both ways that it is stuck, but none that fails is done.
    const isStuck = marker?.kind === 'blocked' && exit.signal === null
    const failed = exit.code !== 0 && !isStuck
    return {
      end: failed ? this.#failedEnd(exit, message) : { kind: 'finished' },
      // Of an answer the beginning counts as much as the end.
      finalMessage: this.#isAsked ? this.#output.all : this.#output.notes(message),
      markerTail: tail,
      usage: UNKNOWN_USAGE,
      denied: [],
    }
  }

  #failedEnd(exit: Exit, message: string): StreamEnd['end'] {
    // At a terminal complaints come where all else does.
    const complaint = neverBegan(this.#line, this.#pty ? { ...exit, stderr: message } : exit)
    if (complaint === null) return { kind: 'crashed', reason: failureOf('the command', exit, message) }
    const reason = `The agent "command" cannot begin (${complaint}): ${HOW_TO_GIVE_ONE}.`
    return { kind: 'refused', reason, hopeless: 'run' }
  }
}

/**
 * What the shell complains of where it could not start the program, so that nothing was done and nothing will be;
 * null wherever that is not certain. The exit code says little: what has worked for an hour may end with 127 too. So
 * the command must be a single one, and all of stderr the word of this very shell.
 */
function neverBegan(line: string, { code, stderr }: Exit): string | null {
  if ((code !== 126 && code !== 127) || !isSingle(line)) return null
  const complaint = stderr.trim()
  const [said] = complaint.split('\n')
  if (said !== complaint || !said.startsWith(`${SHELL}:`)) return null
  return said.slice(SHELL.length + 1).replace(/^\s*(?:line )?\d+:\s*/, '')
}

/** Nothing stands beside the one command, or within it, that the shell might have run before. */
function isSingle(line: string): boolean {
  return !/[|&;()`\n]/.test(line) && !/(?:^|\s)(?:\.|source|eval)\s/.test(line)
}

/** The program that the command begins with; null where that is not plain to see. */
function programOf(line: string): string | null {
  return (isSingle(line) && /^[\w./+@][\w./+@-]*(?=\s|$)/.exec(line)?.[0]) || null
}

/** Whether the shell knows what that word stands for: a program, or something of its own. */
async function isKnown(word: string, { cwd, env }: Parameters<Preflight>[0]): Promise<boolean> {
  const asked = startProcess(
    { program: 'sh', args: ['-c', 'command -v "$1"', SHELL, word] },
    { cwd, env, onOutput: () => undefined, killAfterSeconds: 1 },
  )
  const end = await asked.finished
  return end.kind !== 'exited' || end.code === 0
}
