import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { CagedAction } from '../../base/nouns.ts'
import { isInside, isTemporary, type CagePolicy } from './mounts.ts'

/** The most refusals to report of one process: repeated ones have the same cause. */
const MOST = 20
const NEWLINE = 10
/** How much of a line without an end is kept. */
const MOST_HELD = 64 * 1024
/** How far from the message a path may be. */
const NEAR = 400

const MISSING = /no such file|nonexistent/i
const WRITE = /read-only file system/i
const COMPLAINTS =
  /read-only file system|permission denied|no such file or directory|directory nonexistent|operation not permitted|device or resource busy|resource busy or locked|invalid cross-device link/gi
/** The words that each of them contains. */
const NEEDLES = [
  'ead-only file system',
  'ermission denied',
  'o such file or directory',
  'irectory nonexistent',
  'peration not permitted',
  'esource busy',
  'ross-device link',
].map((text) => Buffer.from(text))
/** `…: EROFS: read-only file system, open '/x'`, `[Errno 30] Read-only file system: '/x'`; a message about copying has two paths. */
const AFTER =
  /^(?:\\?["'])?(?:,? \w+|:)? ?\\?['"]([^'"\n]{1,300}?)\\?['"](?: -> \\?['"]([^'"\n]{1,300}?)\\?['"])?/
/** `cat: /x: Permission denied`, `cannot create '/x': Read-only …`, `'/a' => '/b': Invalid …`. */
const BEFORE =
  /(?:['‘"`]([^'‘’"`\n]{1,300})['’"`]|([^\s'"‘’`=>:]+)) ?:(?: [A-Z]{4,7}:)?\s*(?:\[Errno \d+\] )?$/

/** What may be reported of a process, and how its paths are meant. */
interface Where {
  readonly policy: Pick<CagePolicy, 'rules' | 'never' | 'checkout'>
  readonly cwd: string
  readonly home: string
}

/**
 * Finds error messages about refused actions in the output of a caged process. It knows only the output: a program
 * may be refused something and not print it.
 */
export class RefusalReader {
  readonly #where: Where
  readonly #report: (action: CagedAction) => void
  /** The text after the last newline of each stream. */
  readonly #rest = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
  readonly #known = new Set<string>()

  constructor(
    policy: Where['policy'],
    { cwd, home = homedir() }: { cwd: string; home: string | undefined },
    report: (action: CagedAction) => void,
  ) {
    this.#where = { policy, cwd, home }
    this.#report = report
  }

  push(chunk: Uint8Array, stream: 'stdout' | 'stderr'): void {
    const bytes = Buffer.concat([this.#rest[stream], chunk])
    const whole = bytes.lastIndexOf(NEWLINE) + 1
    const end = whole === 0 && bytes.length > MOST_HELD ? bytes.length - 2 * NEAR : whole
    this.#read(bytes.subarray(0, end))
    this.#rest[stream] = Buffer.from(bytes.subarray(end))
  }

  /** Call at the end of the output. */
  end(): void {
    for (const rest of Object.values(this.#rest)) this.#read(rest)
  }

  /** Reports each refused action once. */
  refused(action: CagedAction): void {
    const key = `${action.action} ${action.target}`
    if (this.#known.has(key) || this.#known.size >= MOST) return
    this.#known.add(key)
    this.#report(action)
  }

  /** An agent may print a gigabyte: only text that contains one of the needles is parsed. */
  #read(bytes: Buffer): void {
    if (!NEEDLES.some((needle) => bytes.includes(needle))) return
    for (const line of bytes.toString().split('\n'))
      for (const { 0: words, index } of line.matchAll(COMPLAINTS)) {
        const path = pathNear(line, index, index + words.length)
        const action = path === null ? null : actionOn(absolute(path, this.#where), words, this.#where)
        if (action) this.refused(action)
      }
  }
}

/** The path that a message names after its words, or else before them. */
function pathNear(line: string, start: number, end: number): string | null {
  const after = AFTER.exec(line.slice(end, end + NEAR))
  const before = BEFORE.exec(unescaped(line.slice(Math.max(0, start - NEAR), start)))
  const path = after?.[2] ?? after?.[1] ?? before?.[1] ?? before?.[2]
  return path !== undefined && path.length > 1 ? path : null
}

/** What the cage has refused with these words; null if it does not refuse that. */
function actionOn(path: string, words: string, where: Where): CagedAction | null {
  // The last rule about a path applies.
  const rule = where.policy.rules.findLast((one) => isInside(path, one.path))
  const isWrite = WRITE.test(words)
  if (MISSING.test(words)) {
    // What is not there in a closed folder may be there outside of the cage.
    if (rule?.kind !== 'closed' && rule?.kind !== 'own') return null
    let there = path
    while (there !== rule.path && !existsSync(there)) there = dirname(there)
    return there === rule.path ? null : describe('read', path, there, where)
  }
  if (rule?.kind === 'closed' || rule?.kind === 'empty')
    return describe(isWrite ? 'write' : 'read', path, rule.path, where)
  if (rule?.kind === 'write' || rule?.kind === 'own') return null
  return isWrite || rule?.kind === 'read' ? describe('write', path, path, where) : null
}

/** The entry that would allow it never opens a whole home. */
function describe(action: 'read' | 'write', path: string, closed: string, where: Where): CagedAction {
  const entry = shown(isInside(where.home, closed) ? path : closed, where)
  const isNever =
    isTemporary(path) ||
    isInside(path, where.policy.checkout) ||
    (action === 'write' && where.policy.never.some((folder) => isInside(path, folder)))
  return {
    action,
    target: shown(path, where),
    allowedBy: isNever ? null : `sandbox.${action}: ${JSON.stringify(entry)}`,
  }
}

function absolute(named: string, { home, cwd }: Where): string {
  const path = named.replaceAll('\\\\', '\\')
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(cwd, path)
}

function shown(path: string, { home, cwd }: Where): string {
  if (path !== cwd && isInside(path, cwd)) return path.slice(cwd.length + 1)
  return isInside(path, home) ? `~${path.slice(home.length)}` : path
}

/** Removes JSON's escapes before quotes: most agents quote their tools' output as JSON. */
function unescaped(text: string): string {
  return text.replaceAll(/\\n/g, ' ').replaceAll(/\\(["'])/g, '$1')
}
