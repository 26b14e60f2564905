import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathWithin } from '../base/paths.ts'
import { findOnPath } from '../process/program.ts'
import type { Git } from './git.ts'

/** Settings of git, in the order in which git reads them: `remote.origin.url` and its value. */
export type Settings = readonly (readonly [key: string, value: string])[]

/** A folder without hooks: git looks for each hook in it, and finds none. */
export const NO_HOOKS = '/dev/null'

/** The same door to git, which starts no hook and no monitor: an agent may have written what they run. */
export function withoutHooks(git: Git): Git {
  return git.with({ settings: { 'core.hooksPath': NO_HOOKS, 'core.fsmonitor': 'false' } })
}

/** Everything that is set for a repository, by whatever file or variable. */
export async function effectiveSettings(git: Git): Promise<Settings> {
  const { stdout } = await git.run(['config', '--list', '--includes', '-z'])
  return stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const end = entry.indexOf('\n')
      return end < 0 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)]
    })
}

/** The text of a configuration file. Each setting has its own heading, which keeps their order. */
export function settingsText(settings: Settings): string {
  return settings
    .map(([key, value]) => {
      const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
      const [section, name] = [key.slice(0, first), key.slice(last + 1)]
      const sub = first === last ? '' : ` "${escaped(key.slice(first + 1, last))}"`
      const text = escaped(value).replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\b', '\\b')
      return `[${section}${sub}]\n\t${name} = "${text}"\n`
    })
    .join('')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
}

/** The keys of settings by which git starts a filter or a merge driver. */
const DRIVER = /^(?:filter\..+\.(?:clean|smudge|process)|merge\..+\.driver)$/

/**
 * The filters and merge drivers that would run a file of the tree, which an agent may have written: their keys, and what
 * switches them off.
 */
export function unsafeDrivers(
  settings: Settings,
  { top, env }: { top: string; env: Readonly<Record<string, string | undefined>> },
): Settings {
  const unsafe = settings.filter(([key, value]) => DRIVER.test(key) && !isOutside(value, top, env))
  return unsafe.flatMap(([key]) => {
    const owner = key.slice(0, key.lastIndexOf('.'))
    return owner.startsWith('filter.')
      ? [[key, ''] as const, [`${owner}.required`, 'false'] as const]
      : [[key, ''] as const]
  })
}

/** Whether a command starts a program from outside of the tree, and names no file in it. */
function isOutside(command: string, top: string, env: Readonly<Record<string, string | undefined>>): boolean {
  if (/[;&|`$<>()\n]/.test(command)) return false
  const [program = '', ...words] = command
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/^["']|["']$/g, ''))
  if (program === '') return true
  const path = program.includes('/') ? resolve(top, program) : findOnPath(program, env)
  if (path === null || pathWithin(top, path) !== null) return false
  return words.every((word) => word.startsWith('-') || word === '' || !existsSync(resolve(top, word)))
}
