import { arch } from 'node:os'

/** A processor's number in the kernel, and the numbers of its system calls. */
interface Architecture {
  readonly audit: number
  readonly socket: number
  readonly ioctl: number
  /** Calls that no program in a cage needs: the kernel's keyrings, and io_uring, which opens sockets unseen. */
  readonly refused: readonly number[]
  /** From this number on, calls belong to another set, which would bypass this filter. */
  readonly beyond: number | null
}

const X64: Architecture = {
  audit: 0xc000003e,
  socket: 41,
  ioctl: 16,
  refused: [248, 249, 250, 425, 426, 427],
  beyond: 0x40000000,
}
const ARM64: Architecture = {
  audit: 0xc00000b7,
  socket: 198,
  ioctl: 29,
  refused: [217, 218, 219, 425, 426, 427],
  beyond: null,
}

/** IPv4, IPv6 and netlink; all of them are within the cage's own network. */
const FAMILIES = [2, 10, 16]
/** Requests that put characters into the input of the terminal in which ralph runs. */
const TERMINAL_INPUT = [0x5412, 0x541c]

const ALLOW = 0x7fff0000
const EPERM = 0x00050001
const ENOSYS = 0x00050026
const LOAD = 0x20
const IF_EQUAL = 0x15
const IF_AT_LEAST = 0x35
const RETURN = 0x06
/** The offsets of the number, the processor and the first two arguments in a filter's input: seccomp(2). */
const [NUMBER, AUDIT, FIRST, SECOND] = [0, 4, 16, 24]

type Instruction = readonly [code: number, value: number, ifTrue?: number, ifFalse?: number]

/**
 * A filter of system calls for bubblewrap; null for an unknown processor. It refuses Unix sockets, through which an
 * ssh agent, a session bus or docker would do what the cage does not allow.
 */
export function seccompFilter(processor = arch()): Uint8Array | null {
  const known = processor === 'x64' ? X64 : processor === 'arm64' ? ARM64 : null
  if (known === null) return null
  const program: readonly Instruction[] = [
    [LOAD, AUDIT],
    [IF_EQUAL, known.audit, 1, 0],
    [RETURN, ENOSYS],
    [LOAD, NUMBER],
    ...(known.beyond === null ? [] : [[IF_AT_LEAST, known.beyond, 0, 1] as const, [RETURN, ENOSYS] as const]),
    ...known.refused.flatMap((number): Instruction[] => [
      [IF_EQUAL, number, 0, 1],
      [RETURN, ENOSYS],
    ]),
    [IF_EQUAL, known.socket, 0, FAMILIES.length + 3],
    [LOAD, FIRST],
    ...FAMILIES.map((family, index): Instruction => [IF_EQUAL, family, FAMILIES.length - index, 0]),
    [RETURN, EPERM],
    [RETURN, ALLOW],
    [IF_EQUAL, known.ioctl, 0, TERMINAL_INPUT.length + 3],
    [LOAD, SECOND],
    ...TERMINAL_INPUT.map((request, index): Instruction => [
      IF_EQUAL,
      request,
      TERMINAL_INPUT.length - index,
      0,
    ]),
    [RETURN, ALLOW],
    [RETURN, EPERM],
    [RETURN, ALLOW],
  ]
  return encoded(program)
}

function encoded(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, value, ifTrue = 0, ifFalse = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value, index * 8 + 4)
  }
  return bytes
}
