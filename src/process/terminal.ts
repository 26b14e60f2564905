import { closeSync } from 'node:fs'
import { platform } from 'node:os'
import type { Duplex } from 'node:stream'
import { ReadStream } from 'node:tty'
import { spawnSync } from 'node:child_process'
import type { ProcessEnd, Running, TerminalUse } from './start.ts'
import { keepFromChildren } from './launch.ts'
import type { Environment } from './mark.ts'
import { findOnPath } from './program.ts'

/** The size of a terminal, in characters. */
interface Size {
  readonly columns: number
  readonly rows: number
}

/** A program that is to get the terminal. */
export interface Borrower {
  /** The task that it works on. */
  readonly task: string
  /** Its name on the screen. */
  readonly name: string
  /** The folder that it works in: an editor sees nothing of the work before it has landed. */
  readonly folder: string
  readonly start: (terminal: TerminalUse) => Running
}

/** The terminal of the person who started the run, which can be lent to a program that they use. */
export interface PersonTerminal {
  /** Lends the whole terminal to that program until it ends; another one waits for that. */
  lend(borrower: Borrower): Promise<ProcessEnd>
}

/** A terminal that ralph makes for one program. */
export interface Pty {
  /** The path at which the program opens it. */
  readonly path: string
  /** The program's end, which stays open here too: Node drops unread output when the last one closes. */
  readonly fd: number
  /** Reads the program's output; writes keys for it. */
  readonly stream: Duplex
  resize(size: Size): void
  /** Closes the terminal after its program has ended. */
  close(): void
}

/** The package that makes terminals; it may be missing. */
const PTY_PACKAGE = '@lydell/node-pty'
/** Its part that finds the binary of this system; it has no types. */
const FINDER = '@lydell/node-pty/requireBinary.js'

/** The used part of that package: its own wrapper starts programs itself, without the streams that a sandbox needs. */
interface PtyBinary {
  open(
    columns: number,
    rows: number,
  ): { readonly master: number; readonly slave: number; readonly pty: string }
  resize(fd: number, columns: number, rows: number): void
}

/** Opens a terminal; returns a problem if there is no way to. */
export async function openPty({ columns, rows }: Size): Promise<Pty | { readonly problem: string }> {
  const binary = await ptyBinary()
  if (typeof binary === 'string') return { problem: binary }
  const { master, slave, pty: path } = binary.open(columns, rows)
  const stream: Duplex = new ReadStream(master)
  const release = keepFromChildren([master, slave])
  let isOpen = true
  return {
    path,
    fd: slave,
    stream,
    resize: (size) => isOpen && binary.resize(master, size.columns, size.rows),
    close() {
      if (!isOpen) return
      isOpen = false
      stream.destroy()
      closeSync(slave)
      release()
    },
  }
}

/** Why no terminal can be made here, and what helps; null if one can. */
export async function whyNoPty(): Promise<string | null> {
  const binary = await ptyBinary()
  return typeof binary === 'string' ? binary : null
}

async function ptyBinary(): Promise<PtyBinary | string> {
  if (platform() === 'win32') return 'ralph makes no terminals of its own on Windows'
  try {
    const loaded: unknown = await import(FINDER)
    const made = binaryOf(loaded)
    if (made) return made
  } catch {
    // Left out when ralph was installed, or not available for this system.
  }
  return `the package ${PTY_PACKAGE} is not there, or not for this system: npm install -g ${PTY_PACKAGE} brings it`
}

function binaryOf(module: unknown): PtyBinary | null {
  const inner = typeof module === 'object' && module !== null && 'default' in module ? module.default : module
  if (typeof inner !== 'object' || inner === null || !('requireBinary' in inner)) return null
  const { requireBinary } = inner
  return typeof requireBinary === 'function' ? (requireBinary('pty.node') as PtyBinary) : null
}

/** Limits the wait for `stty`, which blocks while another process has the terminal. */
const PATIENCE_MS = 2000

/** Notes the modes of this process's terminal; the returned function restores them, whatever a program has changed. */
export function keepTerminalModes(env: Environment): () => void {
  const program = findOnPath('stty', env)
  if (program === null) return () => undefined
  const stty = (argument: string): string => {
    const { stdout } = spawnSync(program, [argument], {
      stdio: ['inherit', 'pipe', 'ignore'],
      encoding: 'utf8',
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    })
    return stdout?.trim() ?? ''
  }
  const modes = stty('-g')
  return () => void (modes !== '' && stty(modes))
}
