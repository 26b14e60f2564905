import { closeSync } from 'node:fs'
import { platform } from 'node:os'
import type { Duplex } from 'node:stream'
import { ReadStream } from 'node:tty'
import { keepFromChildren } from './kept-open.ts'
import type { Size } from './terminal.ts'

/** A terminal of ralph's own making, at which one program sits. */
export interface Pty {
  /** Where the program opens it. */
  readonly path: string
  /** The program's end, which stays open here too: Node would drop what is left of the output when the last one closes. */
  readonly fd: number
  /** What the program prints; what is written into it the program reads as keys. */
  readonly stream: Duplex
  resize(size: Size): void
  /** Nobody sits at it any more. */
  close(): void
}

/** The package that makes terminals, which need not be there. */
export const PTY_PACKAGE = '@lydell/node-pty'
/** The part of it that finds the binary of this system; it has no types. */
const FINDER = '@lydell/node-pty/requireBinary.js'

/** What of that package is used: its own wrapper starts programs itself, without the streams that a sandbox needs. */
interface PtyBinary {
  open(
    columns: number,
    rows: number,
  ): { readonly master: number; readonly slave: number; readonly pty: string }
  resize(fd: number, columns: number, rows: number): void
}

/** Opens a terminal; a sentence where there is no way to. */
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

/** Why no terminal can be made here, and what helps; null where one can. */
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
    // Left out when ralph was installed, or made for no system of this kind.
  }
  return `the package ${PTY_PACKAGE} is not there, or not for this system: npm install -g ${PTY_PACKAGE} brings it`
}

function binaryOf(module: unknown): PtyBinary | null {
  const inner = typeof module === 'object' && module !== null && 'default' in module ? module.default : module
  if (typeof inner !== 'object' || inner === null || !('requireBinary' in inner)) return null
  const { requireBinary } = inner
  return typeof requireBinary === 'function' ? (requireBinary('pty.node') as PtyBinary) : null
}
