import { resolve } from 'node:path'
import { unfenced } from '../../backlog/markdown/fence.ts'
import { NO_NEEDS } from '../../base/cage-needs.ts'
import { asLeftStanding, isInternalFrame, tellingLine, tellingLines } from '../../base/failure-lines.ts'
import { DONE_MARKER } from '../../base/names.ts'
import { readPlainFile } from '../../base/read-file.ts'
import { Tail } from '../../base/stream.ts'
import { startProcess } from '../../process/start.ts'
import { whyNoPty } from '../../process/terminal.ts'
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
    reader: (request) =>
      plainReader(request, (exit, tail) => {
        const { marker, message } = readLastLine(tail, request.prompt)
        // A program may report in both ways that it is stuck, but one that fails is never done.
        const isStuck = marker?.kind === 'blocked' && exit.signal === null
        // In a terminal error messages are part of the output.
        const complaint = neverBegan(line, pty ? { ...exit, stderr: message } : exit)
        const isFinished = exit.code === 0 || isStuck
        return {
          end: isFinished ? { kind: 'finished' } : failedEnd(exit, message, complaint),
          printed: message,
          markerTail: tail,
        }
      }),
  }
}

function failedEnd(exit: Exit, message: string, complaint: string | null): StreamEnd['end'] {
  if (complaint === null) return { kind: 'crashed', reason: failureOf('the command', exit, message) }
  const reason = `The agent "command" cannot begin (${complaint}): ${HOW_TO_GIVE_ONE}; ralph doctor says whether the sandbox hides it.`
  return { kind: 'refused', reason, hopeless: 'agent' }
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

/** The embedded agent: runs the script in the task's section; exit code 0 means done. */
export const script: Provider = {
  name: 'script',
  install: 'it is part of ralph',
  minimumVersion: null,
  // It costs nothing.
  tellsCost: true,
  tellsTokens: true,
  preflight: () => [],
  invocation: (request) => ({
    program: 'sh',
    args: [`${FOLDER}/script.sh`],
    env: taskEnvironment(request),
    stdin: '',
    files: { 'script.sh': request.task.script ?? '' },
  }),
  reader: (request) =>
    plainReader(request, (exit, tail) => ({
      end: endOfScript(request.task, exit, tail),
      printed: tail,
      // Its exit code decides.
      markerTail: DONE_MARKER,
    })),
}

/** The first fenced `sh` block of a `## Script` section; null if it has none. */
export function scriptIn(section: string): string | null {
  const script = unfenced(section, /^(?:sh|bash|shell)\b/)
  return script === null ? null : `${script}\n`
}

function endOfScript({ id, script }: AgentRequest['task'], exit: Exit, tail: string): StreamEnd['end'] {
  if (script === null)
    return { kind: 'refused', reason: `${id} has no fenced sh block under "## Script"`, hopeless: 'task' }
  if (exit.code === 0) return { kind: 'finished' }
  return { kind: 'crashed', reason: failureOf('the script', exit, tail) }
}

const LINES = 100
const LINE_LENGTH = 10_000
const NOTES_BYTES = 1024 * 1024
/** Of a failure. */
const LINES_SHOWN = 5
const LINE_SHOWN = 400
const ANSWER_BYTES = 4 * 1024 * 1024

/** How a plain program ended, and its output before the marker. */
type PlainEnd = Pick<StreamEnd, 'end' | 'markerTail'> & { readonly printed: string }

/** Reads a plain program's output: its last lines are the notes, unless the program wrote a notes file. */
function plainReader(request: AgentRequest, endOf: (exit: Exit, tail: string) => PlainEnd): StreamReader {
  const answer = request.answer ? new Tail(ANSWER_BYTES) : null
  let last: string[] = []
  return {
    line(text) {
      answer?.push(Buffer.from(`${text}\n`))
      last.push(cut(text))
      if (last.length > 2 * LINES) last = last.slice(-LINES - 1)
      return text.trim() === '' ? [] : [{ type: 'text', text }]
    },
    end(exit) {
      // One line more than the notes may have, as that one can be the marker.
      const { printed, ...end } = endOf(exit, last.slice(-LINES - 1).join('\n'))
      const notes = writtenNotes(request) ?? printed.split('\n').slice(-LINES).join('\n')
      // Of an answer the beginning counts as much as the end.
      return { ...end, finalMessage: answer?.text() ?? notes, denied: [] }
    },
  }
}

/** The notes file of an attempt; undefined if there is none, or if it cannot be read as a whole, like a pipe. */
export function writtenNotes({ cwd, task }: Pick<AgentRequest, 'cwd' | 'task'>): string | undefined {
  return readPlainFile(resolve(cwd, task.notesFile), NOTES_BYTES)?.trim() || undefined
}

/** Cuts bytes: a slice of a string would keep the whole string in memory. */
function cut(text: string): string {
  return text.length <= LINE_LENGTH ? text : Buffer.from(text.slice(0, LINE_LENGTH)).toString()
}

/** How a program failed: first the line of its output that says most, then the lines around it. */
function failureOf(program: string, exit: Exit, tail: string): string {
  const how = exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`
  const output = [exit.stderr, tail].find((text) => text.trim() !== '') ?? ''
  const shown = output.split('\n').map(asLeftStanding)
  const lines = shown.filter((line) => !isInternalFrame(line)).join('\n')
  const telling = tellingLine(lines).slice(0, LINE_SHOWN)
  if (telling === '') return `${program} ${how}`
  const around = tellingLines(lines, LINES_SHOWN).map((line) => line.slice(0, LINE_SHOWN))
  const more = around.length > 1 ? `\n${around.join('\n')}` : ''
  return `${program} ${how}: ${telling}${more}`
}
