import { readLastLine } from '../marker.ts'
import type { AgentRequest, Provider, StreamEnd, StreamReader } from '../port.ts'
import { failureOf, PlainOutput } from './plain-output.ts'
import { taskEnvironment } from './task-environment.ts'
import { UNKNOWN_USAGE } from './usage.ts'

/** Any program as an agent: the prompt on its stdin, its marker as the last line of its stdout. */
export function commandProvider(command: string | null): Provider {
  return {
    name: 'command',
    binary: null,
    install: 'set `command` in the config, or give --command',
    minimumVersion: null,
    preflight: () =>
      command?.trim()
        ? []
        : ['The agent "command" has no command to run: set `command` in the config, or give --command.'],
    invocation: (request) => ({
      program: 'sh',
      args: ['-c', command ?? ''],
      env: taskEnvironment(request),
      stdin: request.prompt,
      files: {},
    }),
    reader: (request) => new CommandReader(request),
  }
}

class CommandReader implements StreamReader {
  readonly #prompt: string
  readonly #output: PlainOutput

  constructor(request: AgentRequest) {
    this.#prompt = request.prompt
    this.#output = new PlainOutput(request)
  }

  line(text: string): ReturnType<StreamReader['line']> {
    return this.#output.line(text)
  }

  end(exit: Parameters<StreamReader['end']>[0]): StreamEnd {
    const tail = this.#output.tail
    const { marker, message } = readLastLine(tail, this.#prompt)
    // A program may well say in both ways that it is stuck, but none that fails is done.
    const isStuck = marker?.kind === 'blocked' && exit.signal === null
    const failed = exit.code !== 0 && !isStuck
    return {
      end: failed
        ? { kind: 'crashed', reason: failureOf('the command', exit, message) }
        : { kind: 'finished' },
      finalMessage: this.#output.notes(message),
      markerTail: tail,
      usage: UNKNOWN_USAGE,
      denied: [],
    }
  }
}
