import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { CagedAction } from '../../base/nouns.ts'
import { isInside, type CagePolicy } from './mounts.ts'

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

/**
 * Finds error messages about refused actions in the output of a caged process. It knows only the output: a program
 * may be refused something and not print it.
 */
export class RefusalReader {
  readonly #policy: Pick<CagePolicy, 'rules' | 'never'>
  readonly #cwd: string
  readonly #home: string
  readonly #report: (action: CagedAction) => void
  /** The text after the last newline of each stream. */
  readonly #rest = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
  readonly #known = new Set<string>()

  constructor(
    policy: Pick<CagePolicy, 'rules' | 'never'>,
    where: { readonly cwd: string; readonly home: string | undefined },
    report: (action: CagedAction) => void,
  ) {
    this.#policy = policy
    this.#cwd = where.cwd
    this.#home = where.home ?? homedir()
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
      for (const match of line.matchAll(COMPLAINTS)) this.#complaint(line, match[0], match.index)
  }

  #complaint(line: string, words: string, at: number): void {
    const after = AFTER.exec(line.slice(at + words.length, at + words.length + NEAR))
    const before = BEFORE.exec(unescaped(line.slice(Math.max(0, at - NEAR), at)))
    const named = after?.[2] ?? after?.[1] ?? before?.[1] ?? before?.[2]
    if (named === undefined || named.length < 2) return
    const path = this.#absolute(named)
    if (MISSING.test(words)) return this.#missing(path)
    const closed = this.#ruleOf(path, ['closed', 'empty'])
    if (closed !== null) return this.refused(this.#action(WRITE.test(words) ? 'write' : 'read', path, closed))
    const isWrite = WRITE.test(words) || this.#ruleOf(path, ['read']) !== null
    if (isWrite && !this.#isWritable(path)) this.refused(this.#action('write', path, path))
  }

  /** What is not there in a closed folder may be there outside of the cage. */
  #missing(path: string): void {
    const closed = this.#ruleOf(path, ['closed', 'own'])
    if (closed === null) return
    let there = path
    while (there !== closed && !existsSync(there)) there = dirname(there)
    if (there !== closed) this.refused(this.#action('read', path, there))
  }

  #absolute(named: string): string {
    const path = named.replaceAll('\\\\', '\\')
    if (path === '~' || path.startsWith('~/')) return join(this.#home, path.slice(1))
    return isAbsolute(path) ? resolve(path) : resolve(this.#cwd, path)
  }

  /** The last rule about the path, if it is of one of these kinds. */
  #ruleOf(path: string, kinds: readonly string[]): string | null {
    const rule = this.#policy.rules.findLast((one) => isInside(path, one.path))
    return rule && kinds.includes(rule.kind) ? rule.path : null
  }

  #isWritable(path: string): boolean {
    return this.#ruleOf(path, ['write', 'own']) !== null
  }

  /** The entry that would allow it never opens a whole home. */
  #action(action: 'read' | 'write', path: string, closed: string): CagedAction {
    const entry = isInside(this.#home, closed) ? path : closed
    const isNever = action === 'write' && this.#policy.never.some((folder) => isInside(path, folder))
    return {
      action,
      target: this.#shown(path),
      allowedBy: isNever ? null : `sandbox.${action}: ${JSON.stringify(this.#shown(entry))}`,
    }
  }

  #shown(path: string): string {
    if (path !== this.#cwd && isInside(path, this.#cwd)) return path.slice(this.#cwd.length + 1)
    return isInside(path, this.#home) ? `~${path.slice(this.#home.length)}` : path
  }
}

/** Removes JSON's escapes before quotes: most agents quote their tools' output as JSON. */
function unescaped(text: string): string {
  return text.replaceAll(/\\n/g, ' ').replaceAll(/\\(["'])/g, '$1')
}
