import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeAt } from '../base/diagnostic.ts'
import { codeOf, UserError } from '../base/errors.ts'
import { DEFAULTS, GATE_TIMEOUT_SECONDS, type Config } from './defaults.ts'
import type { ConfigProblem, ConfigReading } from './document.ts'
import { CONFIG_FILES } from '../base/names.ts'

/** The place of a project's configuration. */
interface ConfigFile {
  /** Relative to the root. */
  readonly file: string
  readonly text: string
}

/** The project's configuration: its file, with defaults for the rest. Without a file no library is loaded. */
export async function loadConfig(root: string): Promise<Config> {
  const found = findConfig(root)
  if (!found) return DEFAULTS
  const [reading, { checkConfig }] = await Promise.all([read(found), import('./check.ts')])
  if (!reading.ok) throw wrong(found, [reading.problem])
  const migrated = migratedConfig(reading.document.value)
  if (migrated !== null) return { ...DEFAULTS, ...migrated }
  const check = checkConfig(reading.document)
  if (!check.ok) throw wrong(found, check.problems)
  return check.config
}

/**
 * The configuration from one that was written for simplicity-ralph, which keeps the same task files and uses the same name of
 * config file; null for any other. Its keys are not ralph's, so an unknown key is no mistake here.
 */
function migratedConfig(value: unknown): Pick<Config, 'gates'> | null {
  if (typeof value !== 'object' || value === null || !('language' in value) || !('qualityCheck' in value))
    return null
  const command = value.qualityCheck
  if (typeof command !== 'string' || command.trim() === '') return { gates: null }
  return { gates: [{ name: 'check', command, required: true, timeoutSeconds: GATE_TIMEOUT_SECONDS }] }
}

/** The one file that configures the project; two are an error, because it would be unclear which one counts. */
export function findConfig(root: string): ConfigFile | undefined {
  const files = CONFIG_FILES.map((file) => ({ file, text: textOf(root, file) }))
  const manifest = { file: 'package.json', text: textOf(root, 'package.json') }
  const found = [...files, ...(hasRalphKey(manifest.text) ? [manifest] : [])].filter(isThere)
  if (found.length > 1) {
    throw new UserError(
      `There are two configurations: ${found.map(({ file }) => named(file)).join(' and ')}.`,
      'Keep one of them, and remove the other.',
    )
  }
  return found[0]
}

/** A file that looks like the configuration but is a program, and so is not read; undefined if there is none. */
export function unreadConfig(root: string): string | undefined {
  const files = ['js', 'cjs', 'mjs', 'ts', 'mts', 'cts'].map((ending) => `ralph.config.${ending}`)
  return files.find((file) => existsSync(join(root, file)))
}

async function read({ file, text }: ConfigFile): Promise<ConfigReading> {
  const reader = /\.ya?ml$/.test(file)
    ? (await import('./read-yaml.ts')).readYaml
    : (await import('./read-json.ts')).readJson
  try {
    return reader(text, file === 'package.json' ? 'ralph' : undefined)
  } catch (error) {
    // The parsers recurse as deep as the text is nested.
    if (error instanceof RangeError)
      return { ok: false, problem: { offset: 0, message: 'nested too deeply' } }
    throw error
  }
}

function isThere(found: { file: string; text: string | undefined }): found is ConfigFile {
  return found.text !== undefined
}

/** Whether a folder's package.json configures ralph; an unreadable one does not. */
export function isConfiguredByManifest(folder: string): boolean {
  try {
    return hasRalphKey(readFileSync(join(folder, 'package.json'), 'utf8'))
  } catch {
    return false
  }
}

/** A package.json that does not parse is npm's to report, unless it is meant to configure ralph. */
function hasRalphKey(text: string | undefined): boolean {
  if (!text?.includes('"ralph"')) return false
  try {
    const manifest: unknown = JSON.parse(text)
    return typeof manifest === 'object' && manifest !== null && Object.hasOwn(manifest, 'ralph')
  } catch {
    return /"ralph"\s*:/.test(text)
  }
}

function textOf(root: string, file: string): string | undefined {
  try {
    return readFileSync(join(root, file), 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const found = codeOf(error)
    const code = typeof found === 'string' ? found : ''
    // A link without a target was meant to configure something: using the defaults would be a guess.
    if (code === 'ENOENT' && !lstatSync(join(root, file), { throwIfNoEntry: false })) return undefined
    throw new UserError(
      `${file} cannot be read: ${whyNot(code)}.`,
      'ralph looks for its configuration there.',
    )
  }
}

function whyNot(code: string): string {
  switch (code) {
    case 'ENOENT':
      return 'it is a link that leads nowhere'
    case 'EISDIR':
      return 'it is a folder'
    case 'EACCES':
      return 'not allowed'
    default:
      return code
  }
}

function named(file: string): string {
  return file === 'package.json' ? 'the "ralph" key of package.json' : file
}

function wrong({ file, text }: ConfigFile, problems: readonly ConfigProblem[]): UserError {
  const lines = problems.map(({ offset, message }) => {
    const { line, column } = placeAt(text, offset)
    return `${file}:${line}:${column} ${message}`
  })
  const message =
    lines.length === 1 ? lines[0]! : `${file} has ${lines.length} mistakes:\n  ${lines.join('\n  ')}`
  return new UserError(message, 'A key that is left out has its default.')
}
