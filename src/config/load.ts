import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { placeAt } from '../base/diagnostic.ts'
import { codeOf, UserError } from '../base/errors.ts'
import { DEFAULTS, GATE_TIMEOUT_SECONDS, type Config } from './defaults.ts'
import type { ConfigDocument, ConfigProblem } from './check.ts'
import { readText, textAt } from '../base/read-file.ts'
import { isObject } from '../base/text.ts'
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
  const [document, { checkConfig }] = await Promise.all([read(found), import('./check.ts')])
  if ('message' in document) throw wrong(found, [document])
  const migrated = migratedConfig(document.value)
  if (migrated !== null) return { ...DEFAULTS, ...migrated }
  const { config, problems } = checkConfig(document)
  if (config === null || problems.length > 0) throw wrong(found, problems)
  return config
}

/**
 * The configuration from one that was written for simplicity-ralph, which keeps the same task files and uses the same name of
 * config file; null for any other. Its keys are not ralph's, so an unknown key is no mistake here.
 */
function migratedConfig(value: unknown): Pick<Config, 'gates'> | null {
  if (!isObject(value) || !('language' in value) || !('qualityCheck' in value)) return null
  const command = value['qualityCheck']
  if (typeof command !== 'string' || command.trim() === '') return { gates: null }
  return { gates: [{ name: 'check', command, required: true, timeoutSeconds: GATE_TIMEOUT_SECONDS }] }
}

/** The one file that configures the project; two are an error, because it would be unclear which one counts. */
export function findConfig(root: string): ConfigFile | undefined {
  const found = [...CONFIG_FILES, 'package.json'].flatMap((file) => {
    const text = textOf(root, file)
    const isMeant = text !== undefined && (file !== 'package.json' || hasRalphKey(text))
    return isMeant ? [{ file, text }] : []
  })
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

async function read({ file, text }: ConfigFile): Promise<ConfigDocument | ConfigProblem> {
  const reader = /\.ya?ml$/.test(file)
    ? (await import('./read-yaml.ts')).readYaml
    : (await import('./read-json.ts')).readJson
  try {
    return reader(text, file === 'package.json' ? 'ralph' : undefined)
  } catch (error) {
    // The parsers recurse as deep as the text is nested.
    if (error instanceof RangeError) return { offset: 0, message: 'nested too deeply' }
    throw error
  }
}

/** Whether a folder's package.json configures ralph; an unreadable one does not. */
export function isConfiguredByManifest(folder: string): boolean {
  return hasRalphKey(textAt(join(folder, 'package.json')))
}

/** A package.json that does not parse is npm's to report, unless it is meant to configure ralph. */
function hasRalphKey(text: string): boolean {
  if (!text.includes('"ralph"')) return false
  try {
    const manifest: unknown = JSON.parse(text)
    return isObject(manifest) && Object.hasOwn(manifest, 'ralph')
  } catch {
    return /"ralph"\s*:/.test(text)
  }
}

function textOf(root: string, file: string): string | undefined {
  const path = join(root, file)
  try {
    return readText(path).replace(/^\uFEFF/, '')
  } catch (error) {
    const code = String(codeOf(error))
    // A link without a target was meant to configure something: using the defaults would be a guess.
    if (code === 'ENOENT' && !lstatSync(path, { throwIfNoEntry: false })) return undefined
    throw new UserError(
      `${file} cannot be read: ${UNREADABLE.get(code) ?? code}.`,
      'ralph looks for its configuration there.',
    )
  }
}

const UNREADABLE = new Map([
  ['ENOENT', 'it is a link that leads nowhere'],
  ['EISDIR', 'it is a folder'],
  ['ENOTFILE', 'it is not a plain file'],
  ['EACCES', 'not allowed'],
])

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
