import { existsSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { textAt } from '../base/read-file.ts'
import { isObject, parsedJson } from '../base/text.ts'
import { upward } from '../config/root.ts'
import { findOnPath } from '../process/program.ts'
import { startProcess, type StartProcess } from '../process/start.ts'
import type { GateContext } from '../engine/gates/run.ts'

/**
 * The first program of a gate that its shell does not find, or that the gate's script in package.json does not find:
 * the latter as its path in the project's packages. Null if all exist, or the command is not simple enough to tell.
 */
export async function missingProgram(command: string, where: Lookup): Promise<string | null> {
  const missing = await missingOf(programsOf(command), where)
  if (missing !== null) return missing
  const { cwd, env } = where
  // Yarn may have its packages in archives, and finds their programs by itself.
  const script = existsSync(join(cwd, '.pnp.cjs')) ? null : scriptOf(command, cwd)
  if (script === null) return null
  const PATH = pathWithPackages(cwd, env)
  const inside = await missingOf(programsOf(script), { ...where, env: { ...env, PATH } })
  return inside === null || inside.includes('/') ? inside : `${PACKAGES}/${inside}`
}

/** Where a shell looks, and what starts it: by default nothing hides a program from it. */
type Lookup = Pick<GateContext, 'cwd' | 'env'> & { readonly start?: StartProcess }

/** A program that only a sandbox hides, and what it would have to let be read. */
interface HiddenProgram {
  readonly path: string
  readonly read: readonly string[]
}

/** The first program of a command, or its interpreter's script, that is missing only where processes are started so. */
export async function hiddenProgram(
  command: string,
  where: Lookup & { readonly start: StartProcess },
): Promise<HiddenProgram | null> {
  const { cwd, env } = where
  const name = (await missingProgram(command, where)) ?? (await missingScript(command, where))
  if (name === null || (await missingProgram(command, { cwd, env })) !== null) return null
  const PATH = pathWithPackages(cwd, env)
  const isPath = name.includes('/') && existsSync(resolve(cwd, name))
  const path = isPath ? resolve(cwd, name) : findOnPath(basename(name), { ...env, PATH })
  if (path === null) return null
  const target = realpathSync(path)
  // A link is found only through its folder, and its target may need what is beside it.
  return { path, read: path === target ? [path] : [...new Set([dirname(path), dirname(target)])] }
}

/** The folder of the programs of a project's packages. */
export const PACKAGES = 'node_modules/.bin'

/** The script that `npm test`, `pnpm lint` and the like run; null for other commands. */
function scriptOf(command: string, cwd: string): string | null {
  const name = (NPM.exec(command) ?? OTHERS.exec(command))?.[1]
  if (name === undefined) return null
  const read = parsedJson(textAt(join(cwd, 'package.json')))
  const scripts = isObject(read) && isObject(read['scripts']) ? read['scripts'] : {}
  const script = scripts[name]
  return typeof script === 'string' ? script : null
}

const NPM = /^npm (?:(?=test\b)|run(?:-script)? )([\w:.-]+)(?=\s|$)/
const OTHERS = /^(?:(?:pnpm|yarn) (?:run )?|bun run )([\w:.-]+)(?=\s|$)/

/** The programs of the folder's own packages, and of each parent folder's, come first, as npm looks them up. */
function pathWithPackages(cwd: string, env: Lookup['env']): string {
  return [...upward(cwd).map((folder) => join(folder, PACKAGES)), env['PATH'] ?? ''].join(delimiter)
}

async function missingOf(programs: readonly string[], where: Lookup): Promise<string | null> {
  for (const program of programs) if (await fails(`command -v ${program}`, where)) return program
  return null
}

/** An interpreter and the path of the script that it runs: `node ./agent.mjs`. */
const SCRIPT = /^(?:(?:ba|da|z)?sh|node|bun|python3?|ruby|perl) ((?:[\w.@+-]*\/)+[\w.@+-]+)(?=\s|$)/

/** The existing script of a command that a shell does not find. */
async function missingScript(command: string, where: Lookup): Promise<string | null> {
  const script = SCRIPT.exec(command.trim())?.[1]
  if (script === undefined || !existsSync(resolve(where.cwd, script))) return null
  return (await fails(`test -e ${script}`, where)) ? script : null
}

async function fails(shell: string, { cwd, env, start = startProcess }: Lookup): Promise<boolean> {
  const running = start({ shell }, { cwd, env, onOutput: () => undefined, killAfterSeconds: 1 })
  const end = await running.finished
  return end.kind === 'exited' && end.code !== 0
}

/** After these a program may be missing by intention, or be found elsewhere. */
const NOTHING_PLAIN = /\|\||\bPATH=/
/** With these only a shell can tell the words, and where it looks them up. */
const ONLY_FIRST = /[`'"\\(){}<>#$]|(?:^|[;&|])\s*(?:\.|source|eval|export)\s/
const ASSIGNMENTS = /^(?:[A-Za-z_]\w*=\S*\s+)*/
const WORD = /^[\w./+@][\w./+@-]*(?=\s|$)/

/** The first word of a command, and that after each `&&`, `;` and `|`. */
function programsOf(command: string): readonly string[] {
  if (NOTHING_PLAIN.test(command)) return []
  const [first = '', ...others] = command
    .trim()
    .split(/&&|[;|\n]/)
    .map(wordOf)
  // A path depends on the folder that an earlier `cd` went to.
  const plain = ONLY_FIRST.test(command) ? [] : others.filter((program) => !program.includes('/'))
  return [first, ...plain].filter((program) => program !== '')
}

function wordOf(part: string): string {
  return WORD.exec(part.trim().replace(ASSIGNMENTS, ''))?.[0] ?? ''
}
