import { NO_NEEDS } from '../../base/cage-needs.ts'
import { whyNoPty } from '../../process/terminal.ts'
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

const HOW_TO_GIVE_ONE = 'set `command` in the config, or give --command'

/** The shell's own name in its error messages, which distinguishes them from those of the command. */
const SHELL = 'ralph-command'

/** Any program as an agent: the prompt on its stdin, its marker as the last line of its stdout. */
export function commandProvider(command: string | null, pty = false): Provider {
  const line = command?.trim() ?? ''
  return {
    name: 'command',
    install: HOW_TO_GIVE_ONE,
    minimumVersion: null,
    pty,
    // Its needs are unknown, but a person chose it: its hosts are in the configuration.
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
    reader: (request) => readerOf(line, request, pty),
  }
}

function readerOf(line: string, request: AgentRequest, pty: boolean): StreamReader {
  const output = new PlainOutput(request)
  return {
    line: (text) => output.line(text),
    end(exit) {
      const { tail } = output
      const { marker, message } = readLastLine(tail, request.prompt)
      // A program may report in both ways that it is stuck, but one that fails is never done.
      const isStuck = marker?.kind === 'blocked' && exit.signal === null
      // In a terminal error messages are part of the output.
      const complaint = neverBegan(line, pty ? { ...exit, stderr: message } : exit)
      return {
        end: exit.code === 0 || isStuck ? { kind: 'finished' } : failedEnd(exit, message, complaint),
        // Of an answer the beginning counts as much as the end.
        finalMessage: request.answer ? output.all : output.notes(message),
        markerTail: tail,
        denied: [],
      }
    },
  }
}

function failedEnd(exit: Exit, message: string, complaint: string | null): StreamEnd['end'] {
  if (complaint === null) return { kind: 'crashed', reason: failureOf('the command', exit, message) }
  const reason = `The agent "command" cannot begin (${complaint}): ${HOW_TO_GIVE_ONE}; ralph doctor says whether the sandbox hides it.`
  return { kind: 'refused', reason, hopeless: 'run' }
}

/**
 * The shell's message if it could not start the program, so that nothing was done and nothing will be; null unless
 * that is certain. The exit code alone does not show that: a program that ran for an hour may end with 127 too. So the
 * command must be a single one, and all of stderr a message of this very shell.
 */
function neverBegan(line: string, { code, stderr }: Exit): string | null {
  if ((code !== 126 && code !== 127) || !isSingle(line)) return null
  const complaint = stderr.trim()
  const [first] = complaint.split('\n')
  if (first !== complaint || !first.startsWith(`${SHELL}:`)) return null
  return first.slice(SHELL.length + 1).replace(/^\s*(?:line )?\d+:\s*/, '')
}

/** Whether the line is one command, with no other before it or in it that the shell might have run. */
function isSingle(line: string): boolean {
  return !/[|&;()`\n]/.test(line) && !/(?:^|\s)(?:\.|source|eval)\s/.test(line)
}

/** The program that the command begins with; null if it is not obvious. */
function programOf(line: string): string | null {
  return (isSingle(line) && /^[\w./+@][\w./+@-]*(?=\s|$)/.exec(line)?.[0]) || null
}

/** Whether the shell knows the word, as a program or a builtin. */
async function isKnown(word: string, { cwd, env }: Parameters<Preflight>[0]): Promise<boolean> {
  const running = startProcess(
    { program: 'sh', args: ['-c', 'command -v "$1"', SHELL, word] },
    { cwd, env, onOutput: () => undefined, killAfterSeconds: 1 },
  )
  const end = await running.finished
  return end.kind !== 'exited' || end.code === 0
}
