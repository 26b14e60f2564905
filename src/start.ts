#!/usr/bin/env node
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import manifest from '../package.json' with { type: 'json' }
import { cacheFolder } from './base/cache-folder.ts'

// What the engine made of the program's files is kept: each command then starts in three quarters of the time. Node's
// own compile cache holds none of the functions that a command calls.

/** A part of the program, as the build writes it. Its first line, a comment, tells one build from another. */
type Part = (
  exports: unknown,
  require: (id: string) => unknown,
  module: { exports: unknown },
  file: string,
  folder: string,
  importModule: (id: string) => Promise<unknown>,
) => void

const FOLDER = join(import.meta.dirname, 'program')

const parts = new Map<string, { exports: unknown }>()

/** Code that was kept cannot import: the engine has lost whom to ask. The build has each part call this instead. */
const importModule = (id: string): Promise<unknown> => import(id)

/** Loads a part, or a module of Node or of a package. */
function load(id: string): unknown {
  if (!id.startsWith('./')) return require(id)
  const known = parts.get(id)
  if (known) return known.exports
  const module = { exports: {} }
  parts.set(id, module)
  try {
    const file = join(FOLDER, id)
    compile(id, file)(module.exports, load, module, file, FOLDER, importModule)
    return module.exports
  } catch (error) {
    parts.delete(id)
    throw error
  }
}

const { NODE_DISABLE_COMPILE_CACHE, NODE_OPTIONS = '' } = process.env
/** The engine takes only code that was made by its own version, with its own options. */
const engine = [manifest.version, process.version, process.arch, ...process.execArgv, NODE_OPTIONS]
  .join(' ')
  .trim()
const cache = NODE_DISABLE_COMPILE_CACHE ? null : cacheFolder(process.env)
const kept = cache && join(cache, 'compiled', engine.replace(/[^\w.=-]+/g, '_').slice(0, 200))
const BUILD_LENGTH = 20

const compiledNow: { readonly path: string; readonly build: string; readonly script: Script }[] = []

function compile(id: string, file: string): Part {
  // The build writes ASCII alone: so each character takes one byte here, too.
  const source = readFileSync(file, 'latin1')
  const build = source.slice(0, BUILD_LENGTH)
  const path = kept && join(kept, id)
  const cachedData = path === null ? undefined : readKept(path, build)
  const script = new Script(
    `(function(exports,require,module,__filename,__dirname,importModule){${source}\n})`,
    {
      filename: file,
      ...(cachedData && { cachedData }),
    },
  )
  if (path !== null && cachedData === undefined) compiledNow.push({ path, build, script })
  return script.runInThisContext()
}

function readKept(path: string, build: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path)
    return bytes.toString('latin1', 0, BUILD_LENGTH) === build ? bytes.subarray(BUILD_LENGTH) : undefined
  } catch {
    return undefined
  }
}

/** Keeps what was compiled, with the functions that were called. The cache may be read-only: then nothing is kept. */
function keep(): void {
  try {
    for (const { path, build, script } of compiledNow) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const draft = `${path}.${process.pid}.draft`
      writeFileSync(draft, Buffer.concat([Buffer.from(build), script.createCachedData()]), { flush: true })
      renameSync(draft, path)
    }
  } catch {
    return
  }
}

load('./main.cjs')
// After the program's own last works, which restore the engine's flags.
process.on('exit', keep)
