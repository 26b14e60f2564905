import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync } from 'node:fs'
import { platform } from 'node:os'

/** What is run: a program with its arguments, or a command in the words of the shell. */
export type ProcessCommand =
  { readonly program: string; readonly args: readonly string[] } | { readonly shell: string }

/** A child that runs, or a sentence that says why there is none. */
export type Launch =
  | { readonly child: ChildProcessWithoutNullStreams & { readonly pid: number } }
  | { readonly failure: Promise<LaunchFailure> }

export interface LaunchFailure {
  readonly reason: string
  /** The program is not there, which installing it would mend. */
  readonly missing: boolean
}

/** Starts a process in a session and a group of its own, so that it can be ended whole. */
export function launch(command: ProcessCommand, cwd: string, env: Record<string, string>): Launch {
  const options = { cwd, env, detached: platform() !== 'win32', windowsHide: true }
  const program = 'shell' in command ? 'the shell' : command.program
  try {
    const child =
      'shell' in command
        ? spawn(command.shell, { ...options, shell: true })
        : spawn(command.program, command.args, options)
    if (hasPid(child)) return { child }
    const failure = new Promise<LaunchFailure>((resolve) => {
      child.once('error', (error) => resolve(whyNot(error, program, cwd)))
    })
    return { failure }
  } catch (error) {
    // NUL in an argument, or an argument list that is too long for the system.
    return { failure: Promise.resolve(whyNot(error, program, cwd)) }
  }
}

function hasPid(
  child: ChildProcessWithoutNullStreams,
): child is ChildProcessWithoutNullStreams & { readonly pid: number } {
  return child.pid !== undefined
}

function whyNot(error: unknown, program: string, cwd: string): LaunchFailure {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // The system gives one code for both.
  if (code === 'ENOENT' && !existsSync(cwd)) return failed(`the folder ${cwd} does not exist`)
  if (code === 'ENOENT') return { reason: `${program} was not found`, missing: true }
  if (code === 'EACCES') return failed(`${program} is not executable`)
  if (code === 'E2BIG') return failed(`${program} could not be started: its arguments are too long`)
  const told = error instanceof Error ? error.message : String(error)
  return failed(`${program} could not be started: ${told}`)
}

function failed(reason: string): LaunchFailure {
  return { reason, missing: false }
}
