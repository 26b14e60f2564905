import { DONE_MARKER } from '../../base/names.ts'
import { unfenced } from '../../backlog/markdown/fence.ts'
import {
  FOLDER,
  type AgentRequest,
  type Exit,
  type Provider,
  type StreamEnd,
  type StreamReader,
} from '../port.ts'
import { failureOf, PlainOutput } from './plain-output.ts'
import { taskEnvironment } from './request.ts'

/** The embedded agent: runs the script in the task's section; exit code 0 means done. */
export const script: Provider = {
  name: 'script',
  install: 'it is part of ralph',
  minimumVersion: null,
  // It costs nothing.
  tellsCost: true,
  preflight: () => [],
  invocation: (request) => ({
    program: 'sh',
    args: [`${FOLDER}/script.sh`],
    env: taskEnvironment(request),
    stdin: '',
    files: { 'script.sh': request.task.script ?? '' },
  }),
  reader: readerOf,
}

/** The first fenced `sh` block of a `## Script` section; null if it has none. */
export function scriptIn(section: string): string | null {
  const script = unfenced(section, /^(?:sh|bash|shell)\b/)
  return script === null ? null : `${script}\n`
}

function readerOf(request: AgentRequest): StreamReader {
  const output = new PlainOutput(request)
  return {
    line: (text) => output.line(text),
    end: (exit) => ({
      end: endOf(request.task, exit, output.tail),
      finalMessage: output.notes(output.tail),
      // Its exit code decides.
      markerTail: DONE_MARKER,
      denied: [],
    }),
  }
}

function endOf({ id, script }: AgentRequest['task'], exit: Exit, tail: string): StreamEnd['end'] {
  if (script === null)
    return { kind: 'refused', reason: `${id} has no fenced sh block under "## Script"`, hopeless: 'task' }
  if (exit.code === 0) return { kind: 'finished' }
  return { kind: 'crashed', reason: failureOf('the script', exit, tail) }
}
