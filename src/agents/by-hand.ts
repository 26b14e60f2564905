import type { ProcessEnd, StartProcess } from '../process/start.ts'
import type { PersonTerminal } from '../process/terminal.ts'
import type { AgentRequest, HandEnd, Provider, Session } from './port.ts'
import { writableOf, writePrivateFiles } from './private-files.ts'
import { messageOf } from '../base/errors.ts'

/** What `driveByHand` needs besides the provider and the request. */
interface ByHandOptions {
  readonly session: Session
  readonly terminal: PersonTerminal
  readonly start: StartProcess
}

/** How programs in a terminal end at Ctrl-C, which is no failure: with an exit code, or by the signal itself. */
const NORMAL_ENDS: ReadonlySet<unknown> = new Set([0, 130, 'SIGINT'])

/** Starts an agent's interactive program in the person's terminal and waits for its end. Only the signals limit it. */
export async function driveByHand(
  provider: Provider & Required<Pick<Provider, 'interactive'>>,
  request: AgentRequest,
  { session, terminal, start }: ByHandOptions,
): Promise<HandEnd> {
  const begun = performance.now()
  const { signal, killSignal } = request
  const ended = (end: HandEnd['end'], code: number | null = null): HandEnd => {
    return { end, code, seconds: (performance.now() - begun) / 1000 }
  }
  if (signal.aborted || killSignal?.aborted) return ended({ kind: 'interrupted' })
  try {
    const invocation = { ...provider.interactive(request, session), stdin: '' }
    const { args, env, folder, remove } = writePrivateFiles(invocation, request.env)
    const lent = terminal.lend({
      task: request.task.id,
      name: provider.name,
      folder: request.cwd,
      start: (use) =>
        start(
          { program: invocation.program, args },
          {
            cwd: request.cwd,
            env: { ...request.env, ...env },
            readable: folder,
            writable: writableOf(request),
            terminal: use,
            onOutput: (chunk) => request.log(chunk, 'stdout'),
            signal,
            killSignal,
          },
        ),
    })
    const process = await lent.finally(remove)
    const isOurs = signal.aborted || killSignal?.aborted === true
    return ended(
      isOurs ? { kind: 'interrupted' } : endOf(provider, process),
      process.kind === 'exited' ? process.code : null,
    )
  } catch (error) {
    return ended({ kind: 'crashed', reason: messageOf(error) })
  }
}

function endOf({ name, install }: Provider, process: ProcessEnd): HandEnd['end'] {
  if (process.kind === 'not-started') {
    const how = process.missing ? `; to install it: ${install}` : ''
    return { kind: 'crashed', reason: process.reason + how }
  }
  const { code, signal } = process
  if (NORMAL_ENDS.has(signal ?? code)) return { kind: 'done' }
  const how = signal === null ? `exited with code ${String(code)}` : `was ended by ${signal}`
  return { kind: 'crashed', reason: `the interactive program of ${name} ${how}` }
}
