import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { platform as ownPlatform } from 'node:os'
import { posix, win32 } from 'node:path'
import type { Environment } from './mark.ts'

/** Where a program is looked up: the kind of system, and its files. */
interface ProgramFiles {
  readonly platform: NodeJS.Platform
  /** Whether the file exists and may be run. */
  readonly isProgram: (path: string) => boolean
  readonly read: (path: string) => string
}

/** What is started, or why nothing can be. */
type Resolved =
  | { readonly program: string; readonly args: readonly string[] }
  | {
      readonly reason: string
      /** Whether installing something would help. */
      readonly missing: boolean
    }

/** The search for programs among these files. */
export function programsIn({ platform, isProgram, read }: ProgramFiles) {
  const isWindows = platform === 'win32'
  const paths = isWindows ? win32 : posix

  /**
   * The path of a program on PATH; null if it is not there. Folders of PATH that are relative to the current folder are
   * left out: anybody may have put a program of any name into a repository.
   */
  function findOnPath(program: string, env: Environment): string | null {
    const folders = env['PATH'] ?? (isWindows ? (env['Path'] ?? '') : '/usr/bin:/bin')
    const extensions = isWindows ? extensionsOf(program, env) : ['']
    const found = folders
      .split(paths.delimiter)
      .filter((folder) => paths.isAbsolute(folder))
      .flatMap((folder) => extensions.map((extension) => paths.join(folder, program + extension)))
      .find(isProgram)
    return found ?? null
  }

  /** A POSIX shell: the system's, or on Windows that of Git for Windows; null if there is none. */
  function findShell(env: Environment): string | null {
    if (!isWindows) return '/bin/sh'
    const git = findOnPath('git', env)
    // git.exe is in cmd, bin or mingw64/bin; sh.exe in bin, where it sets its environment, or in usr/bin.
    const above = git === null ? [] : ['..', '../..'].map((up) => win32.join(git, '..', up))
    const beside = above.flatMap((folder) =>
      ['bin', 'usr/bin'].map((bin) => win32.join(folder, bin, 'sh.exe')),
    )
    return beside.find(isProgram) ?? findOnPath('sh', env)
  }

  /**
   * The program and arguments that the system can start without a lookup. Windows starts batch files only through
   * cmd.exe, which parses the arguments again: for those that npm and similar tools install for a script, the script
   * is started instead.
   */
  function resolveProgram(program: string, args: readonly string[], env: Environment): Resolved {
    if (program === 'sh') {
      const shell = findShell(env)
      return shell === null ? { reason: NO_SHELL, missing: true } : { program: shell, args }
    }
    const isPath = paths.basename(program) !== program
    const path = isPath ? program : findOnPath(program, env)
    if (path === null) return { reason: `${program} was not found`, missing: true }
    return isWindows && /\.(?:cmd|bat)$/i.test(path) ? behindShim(path, args, env) : { program: path, args }
  }

  function behindShim(path: string, args: readonly string[], env: Environment): Resolved {
    const target = shimTarget(read(path))
    if (target === null)
      return { reason: `${path} is a batch file of a kind that only cmd.exe starts`, missing: false }
    const folder = win32.dirname(path)
    const script = win32.join(folder, target)
    if (/\.exe$/i.test(script)) return { program: script, args }
    const beside = win32.join(folder, 'node.exe')
    const node = isProgram(beside) ? beside : (findOnPath('node', env) ?? process.execPath)
    return { program: node, args: [script, ...args] }
  }

  return { findOnPath, findShell, resolveProgram }
}

/** The search among the files of this system. */
export const { findOnPath, findShell, resolveProgram } = programsIn({
  platform: ownPlatform(),
  isProgram,
  read: (path) => readFileSync(path, 'utf8'),
})

/** The error for a command if there is no POSIX shell. */
export const NO_SHELL = 'there is no POSIX shell: install Git for Windows, which brings one'

/**
 * The file that a shim of npm, pnpm or Yarn starts, relative to the shim's folder: a script of Node or a program; null for
 * any other batch file. Each shim passes its arguments on in one line that ends with `%*`.
 */
export function shimTarget(text: string): string | null {
  const lines = text.split(/\r?\n/).filter((line) => /%\*\s*$/.test(line))
  const targets = lines.map((line) => /"%(?:~dp0|dp0%)\\([^"%]+)"\s+%\*\s*$/.exec(line)?.[1])
  const [target] = targets
  if (target === undefined || targets.some((other) => other !== target)) return null
  if (/\.exe$/i.test(target)) return target
  return /(?:"_prog=|^\s*"?)node(?:\.exe)?"?(?:\s|$)/im.test(text) ? target : null
}

/** The extensions that `findOnPath` tries: none if the name has one already. */
function extensionsOf(program: string, env: Environment): readonly string[] {
  const known = (env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')
  const own = win32.extname(program).toLowerCase()
  return own !== '' && known.some((extension) => extension.toLowerCase() === own) ? [''] : known
}

function isProgram(path: string): boolean {
  try {
    // Most files do not exist: exceptions for each folder of PATH would cost `next` a millisecond.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
