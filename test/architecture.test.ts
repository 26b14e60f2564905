import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** Which folder may import which: the arrows of docs/architecture.md. */
const ARROWS: Record<string, readonly string[]> = {
  agent: ['base', 'events', 'markdown', 'process'],
  attempt: ['agent', 'base', 'events', 'git', 'landing', 'process', 'run', 'select', 'task', 'workspace'],
  base: [],
  cli: [
    'agent',
    'attempt',
    'base',
    'events',
    'gates',
    'git',
    'history',
    'lint',
    'project',
    'prompt',
    'run',
    'select',
    'task',
    'ui',
    'workspace',
  ],
  events: ['base', 'task'],
  gates: ['base', 'events', 'process'],
  git: ['base', 'events'],
  history: ['events', 'git', 'task'],
  landing: ['agent', 'attempt', 'base', 'events', 'git', 'history', 'run', 'task', 'workspace'],
  lint: ['base', 'markdown', 'select', 'task'],
  markdown: ['base', 'task'],
  process: ['base'],
  project: [
    'agent',
    'base',
    'cli',
    'events',
    'gates',
    'git',
    'lint',
    'process',
    'prompt',
    'run',
    'select',
    'task',
    'ui',
    'workspace',
  ],
  prompt: ['base', 'markdown', 'task'],
  run: [
    'agent',
    'attempt',
    'base',
    'events',
    'gates',
    'git',
    'landing',
    'process',
    'select',
    'task',
    'workspace',
  ],
  select: ['base', 'task'],
  task: ['base', 'markdown'],
  ui: ['base', 'events', 'gates', 'git', 'history', 'markdown', 'prompt', 'select', 'task'],
  workspace: ['base', 'events', 'git', 'run'],
}

const src = fileURLToPath(new URL('../src', import.meta.url))
const names = readdirSync(src, { recursive: true, encoding: 'utf8' }).map((name) =>
  name.replaceAll('\\', '/'),
)
const files = names.filter((name) => name.endsWith('.ts') && !name.includes('/kernel/'))
const texts = new Map(files.map((file) => [file, readFileSync(posix.join(src, file), 'utf8')]))

/** The files that a file imports, those that it loads only when it needs them among them. */
function importsOf(file: string, alsoLazy: boolean): string[] {
  const pattern = alsoLazy ? /(?:from|import\() ?'(\.[^']+)'/g : /from '(\.[^']+)'/g
  const code = texts.get(file)!.replace(/^(?:import|export) type [^']*'[^']*'/gm, '')
  const found = (alsoLazy ? texts.get(file)! : code).matchAll(pattern)
  const paths = [...found].map((match) => posix.join(posix.dirname(file), match[1]!))
  return paths.filter((path) => path.endsWith('.ts'))
}

/** The files, outside the folders that may, in which something stands. */
function where(pattern: RegExp, ...mayStandIn: string[]): string[] {
  const elsewhere = files.filter((file) => !mayStandIn.some((place) => file.startsWith(place)))
  return elsewhere.filter((file) => pattern.test(texts.get(file)!.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')))
}

test.each(Object.keys(ARROWS))('%s imports only what it may', (folder) => {
  const own = files.filter((file) => file.startsWith(`${folder}/`))
  const imported = new Set(own.flatMap((file) => importsOf(file, true)).map((file) => file.split('/')[0]!))
  expect([...imported].filter((other) => other !== folder && !ARROWS[folder]!.includes(other))).toEqual([])
  expect(own.length).toBeGreaterThan(0)
})

test('no file imports itself in the end', () => {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    expect(path, [...path, file].join(' → ')).not.toContain(file)
    if (done.has(file)) return
    for (const imported of importsOf(file, false)) visit(imported, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
})

test('only bin prints, and only bin asks the process what it is', () => {
  expect(where(/\bconsole\./)).toEqual([])
  expect(where(/\bprocess\.(?:stdout|stderr)/, 'bin.ts')).toEqual([])
  expect(where(/\bprocess\.(?:argv|cwd|env|exit|exitCode|on|stdin|version)\b/, 'bin.ts')).toEqual([])
  expect(where(/\bnew Date\(\)|\bDate\.now\(/, 'bin.ts')).toEqual([])
})

test('processes are started in process alone, and git is opened in one place', () => {
  expect(where(/'node:child_process'/, 'process/')).toEqual([])
  expect(where(/'simple-git'/)).toEqual(['git/door.ts'])
})

test('every folder of src has its arrows', () => {
  expect(
    [...new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]!))].sort(),
  ).toEqual(Object.keys(ARROWS).sort())
})
