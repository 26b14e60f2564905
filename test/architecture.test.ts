import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** Which folder may import which, besides `base`, which is below everything: the arrows of docs/architecture.md. */
const ARROWS: Record<string, readonly string[]> = {
  base: [],
  process: [],
  'process/cage': ['process'],
  git: ['process'],
  'backlog/markdown': [],
  backlog: ['backlog/markdown'],
  'backlog/select': ['backlog'],
  'backlog/lint': ['backlog', 'backlog/markdown', 'backlog/select'],
  history: ['backlog', 'backlog/lint', 'backlog/markdown', 'backlog/select', 'git'],
  config: ['backlog', 'backlog/select', 'process/cage'],
  prompt: ['backlog', 'backlog/markdown'],
  'agents/signal': ['backlog'],
  agents: ['agents/signal', 'backlog', 'backlog/markdown', 'backlog/select', 'config', 'process', 'prompt'],
  engine: ['agents', 'agents/signal', 'backlog', 'backlog/select', 'git', 'process', 'prompt'],
  'authoring/bridges': ['backlog', 'backlog/markdown', 'backlog/select', 'engine', 'prompt'],
  authoring: [
    'agents/signal',
    'agents',
    'authoring/bridges',
    'backlog',
    'backlog/lint',
    'backlog/select',
    'config',
    'engine',
    'git',
    'process',
    'prompt',
  ],
  'authoring/plan': [
    'agents',
    'authoring',
    'authoring/bridges',
    'backlog',
    'backlog/lint',
    'backlog/markdown',
    'config',
    'engine',
    'git',
    'history',
    'process',
    'prompt',
  ],
  'authoring/init': ['authoring', 'backlog', 'config'],
  screen: [
    'authoring',
    'authoring/init',
    'authoring/plan',
    'backlog',
    'backlog/markdown',
    'backlog/select',
    'config',
    'engine',
    'git',
    'history',
    'process',
    'prompt',
  ],
  'screen/full': ['backlog', 'backlog/select', 'engine', 'screen'],
  'screen/page': ['history', 'screen'],
  'cli/options': ['config'],
  'cli/mcp': ['agents/signal', 'cli/options', 'process'],
  'cli/setup': [
    'cli/options',
    'agents',
    'agents/signal',
    'authoring',
    'authoring/bridges',
    'authoring/plan',
    'backlog',
    'backlog/lint',
    'backlog/select',
    'config',
    'engine',
    'git',
    'process',
    'process/cage',
    'prompt',
    'screen',
  ],
  cli: [
    'agents',
    'authoring',
    'authoring/init',
    'authoring/plan',
    'backlog',
    'backlog/lint',
    'backlog/markdown',
    'backlog/select',
    'cli/mcp',
    'cli/options',
    'cli/setup',
    'config',
    'engine',
    'git',
    'history',
    'process',
    'prompt',
    'screen',
    'screen/full',
    'screen/page',
  ],
}

/** The room of a file, or the part of a room that has arrows of its own. */
function roomOf(file: string): string {
  const found = Object.keys(ARROWS).filter((room) => file.startsWith(`${room}/`))
  return found.toSorted((a, b) => b.length - a.length)[0] ?? file.split('/')[0]!
}

const src = fileURLToPath(new URL('../src', import.meta.url))
const names = readdirSync(src, { recursive: true, encoding: 'utf8' }).map((name) =>
  name.replaceAll('\\', '/'),
)
const files = names.filter((name) => name.endsWith('.ts'))
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
  const own = files.filter((file) => roomOf(file) === folder)
  const imported = new Set(own.flatMap((file) => importsOf(file, true)).map(roomOf))
  const may = folder === 'base' ? [] : ['base', folder, ...ARROWS[folder]!]
  expect([...imported].filter((other) => other !== folder && !may.includes(other))).toEqual([])
  expect(own.length).toBeGreaterThan(0)
})

test('each folder stands above all that it imports', () => {
  const names = Object.keys(ARROWS)
  for (const [place, folder] of names.entries())
    expect(ARROWS[folder]!.filter((other) => names.indexOf(other) >= place)).toEqual([])
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

test('every command begins with the fewest modules of Node: each of the others takes some milliseconds', () => {
  const begun = new Set<string>()
  const visit = (file: string): void => {
    if (begun.has(file)) return
    begun.add(file)
    for (const imported of importsOf(file, false)) visit(imported)
  }
  visit('start.ts')
  visit('bin.ts')
  const modules = [...begun].flatMap((file) =>
    [...texts.get(file)!.matchAll(/^import (?!type ).* from 'node:([\w/]+)'/gm)].map(([, name]) => name),
  )
  expect(new Set(modules)).toEqual(new Set(['fs', 'path', 'util', 'vm']))
})

test('only bin prints, and only bin asks the process what it is', () => {
  expect(where(/\bconsole\.(?!anthropic\.com)/)).toEqual([])
  expect(where(/\bprocess\.(?:stdout|stderr)/, 'bin.ts')).toEqual([])
  // What runs in a cage is a program of its own.
  expect(
    where(
      /\bprocess\.(?:argv|cwd|env|exit|exitCode|on|stdin|version)\b/,
      'bin.ts',
      'start.ts',
      'process/cage/inside.ts',
      'cli/library.ts',
    ),
  ).toEqual([])
  expect(where(/\bnew Date\(\)|\bDate\.now\(/, 'bin.ts', 'cli/library.ts')).toEqual([])
})

test('processes are started in process alone, and git is opened in one place', () => {
  expect(where(/'node:child_process'/, 'process/')).toEqual([])
  expect(where(/'simple-git'/)).toEqual(['git/remote.ts'])
  // Only what a run or a commit of ralph's needs works with the hooks and filters of the repository.
  expect(where(/\bopenGit\(/, 'git/')).toEqual(['cli/setup/start-run.ts'])
})

test('every folder of src has its arrows', () => {
  expect(
    [...new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]!))].sort(),
  ).toEqual([...new Set(Object.keys(ARROWS).map((room) => room.split('/')[0]!))].sort())
})
