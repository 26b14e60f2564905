import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sleep } from '../../src/process/sleep.ts'
import { ENV, git, makeFolder, put } from '../repository.ts'
import { makeProject, runAll, those } from './harness.ts'
import { gateOf, gateResult, type Harness } from './ports.ts'

/** More random agents than the ordinary suite has time for: 100 of them take some minutes. */
const RANDOM_CLONES = Number(process.env['RALPH_RANDOM_CLONES'] ?? 0)
const runs = RANDOM_CLONES > 0 ? { numRuns: RANDOM_CLONES } : { numRuns: 6, seed: 7 }

const FILES = ['a', 'b/c', 'b/d.txt', 'run.sh', 'made/x.log', 'odd [*] name', 'keep/.hidden']
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
const file = fc.constantFrom(...FILES).map(quoted)
const folder = fc.constantFrom('b', 'made', 'empty/deep', 'vendor')
const anyOf = (...lines: readonly string[]) => fc.constantFrom(...lines)
const write = (text: string, path: string): string =>
  `mkdir -p "$(dirname ${path})" && printf '${text}' > ${path}`
const IDENTITY = '-c user.name=agent -c user.email=agent@example.com'

/** One line of an agent's script. What cannot be done, as to rename what is not there, is not done. */
const deed = fc.oneof(
  fc
    .tuple(anyOf('x\\n', 'y\\r\\nz\\r\\n', '', 'Q q\\n', '$Id$\\n', '\\377\\376\\0'), file)
    .map((both) => write(...both)),
  file.map((path) => `rm -f ${path}`),
  folder.map((path) => `rm -rf ${path}`),
  fc.tuple(file, file).map(([from, to]) => `mkdir -p "$(dirname ${to})" && mv ${from} ${to}`),
  fc.tuple(anyOf('+x', '-x', '600', '000'), file).map(([mode, path]) => `chmod ${mode} ${path}`),
  folder.map((path) => `mkdir -p ${path}`),
  folder.map((path) => `${write('*\\n', `${path}/.gitignore`)} && ${write('needed', `${path}/needed.js`)}`),
  folder.map((path) => `chmod 500 ${path}`),
  // Links: inside, dangling, absolute, leaving, to a folder, and through one.
  fc
    .tuple(
      anyOf('a', 'nowhere', '/etc/hostname', '../../outside', 'b', '.', 'node_modules/p'),
      anyOf('link', 'b/link', 'b', 'a'),
    )
    .map(([to, at]) => `rm -rf ${at}; ln -s ${to} ${at}`),
  // A file where a folder was, and the other way round.
  anyOf('rm -rf b; echo file > b', 'rm -f a; mkdir a && echo in > a/in', 'mkfifo b/pipe', 'ln a hard'),
  // A repository inside, with a commit and without one; and a file that says where one is.
  folder.map((path) => `mkdir -p ${path} && git -C ${path} init -q && echo v > ${path}/v`),
  folder.map(
    (path) =>
      `mkdir -p ${path} && git -C ${path} init -q && git ${IDENTITY} -C ${path} commit -q --allow-empty -m in`,
  ),
  folder.map((path) => write('gitdir: ../.git\\n', `${path}/.git`)),
  fc
    .tuple(
      anyOf(
        '* text=auto',
        '*.txt text eol=crlf',
        '* -text',
        '* eol=lf',
        '*.txt filter=upper',
        '*.txt filter=none',
        'a ident',
        '*.txt working-tree-encoding=UTF-16LE',
        '* text',
        '* export-ignore',
      ),
      anyOf('.gitattributes', 'b/.gitattributes', '.git/info/attributes'),
    )
    .map(([line, path]) => `${write('', 'a.tmp')}; rm a.tmp; mkdir -p b; echo '${line}' >> ${path}`),
  fc
    .tuple(
      anyOf('b/', '!*.log', '!node_modules', '!node_modules/', '!.env', '*', '!/made/', 'run.sh', '!.ralph/'),
      anyOf('.gitignore', 'b/.gitignore', '.git/info/exclude'),
    )
    .map(([line, path]) => `mkdir -p b; echo '${line}' >> ${path}`),
  anyOf('rm .gitignore', 'ln -sf a .gitignore', 'ln -sf a .gitattributes'),
  // What its own git believes.
  anyOf(
    'git config core.fileMode false',
    'git config core.hooksPath b',
    'git config core.autocrlf true',
    'git config core.worktree /tmp',
    'git config filter.upper.clean cat',
    'git config core.excludesFile "$PWD/a"',
    'rm -rf .git',
    'git add -A',
    'git add -fA',
    `git ${IDENTITY} commit -qam mine`,
    `git ${IDENTITY} stash -q -u`,
    'git reset -q --hard',
    'git checkout -q --orphan other',
    'git clean -ffdxq',
  ),
  fc
    .tuple(anyOf('--skip-worktree', '--assume-unchanged', '--force-remove', '--chmod=+x'), file)
    .map(([flag, path]) => `git update-index ${flag} ${path}`),
  // Packages and copied files, which are in no tree.
  anyOf(
    'echo changed > node_modules/p/index.js',
    'mkdir -p node_modules/q && echo new > node_modules/q/index.js',
    'rm -rf node_modules',
    'rm -rf node_modules; ln -s b node_modules',
    'rm -rf node_modules; echo file > node_modules',
    'chmod -x node_modules/p/cli.js',
    'sed -i s/1.0.0/2.0.0/ package-lock.json',
    'rm package-lock.json',
    'echo OTHER=1 > .env',
    'rm -f .env; ln -s a .env',
    'rm -f .env; mkdir .env',
  ),
)

/** What an agent asks of the gate: only what is true where it works. */
const demand = fc.oneof(
  fc
    .tuple(
      anyOf('-e', '-f', '-x', '-L', '-s', '! -e'),
      fc.oneof(file, folder, anyOf('link', 'node_modules/q', '.env', '.git')),
    )
    .map(([test, path]) => `[ ${test} ${path} ]`),
  anyOf(
    'grep -q changed node_modules/p/index.js',
    '[ -e node_modules/p ]',
    'find . -name .git -prune -o -type f -links +1 -print | grep -q .',
  ),
)
const note = demand.map((test) => `${test} && printf '%s\\n' ${quoted(test)} >> checks.sh`)

/** All that an agent does; a manifest at the end is of the whole folder. */
const LIST = `find . -name .git -prune -o -name node_modules -prune -o -path ./docs -prune -o -name manifest -prune -o -type f -printf '%p %m ' -exec sha256sum {} \\; -o -type l -printf '%p %l\\n' | LC_ALL=C sort`
const manifest = anyOf(`(${LIST}) > manifest`)
const script = (most: number) =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: deed },
      { weight: 2, arbitrary: note },
      { weight: 1, arbitrary: manifest },
    ),
    {
      minLength: 1,
      maxLength: most,
    },
  )

/** Runs a script line by line, as an agent does that goes on after an error. */
function perform(lines: readonly string[], cwd: string): void {
  for (const line of lines) spawnSync('sh', ['-c', line], { cwd, env: ENV, stdio: 'ignore' })
}

/** The gate, which is the same in the clean room and in a clone. */
function passes(cwd: string): boolean {
  const text = `[ ! -f checks.sh ] || sh -e checks.sh; [ $? = 0 ] || exit 1; [ ! -f manifest ] || (${LIST}) | cmp -s - manifest`
  return spawnSync('sh', ['-c', text], { cwd, env: ENV, stdio: 'ignore' }).status === 0
}

/** Everything in a folder but its repository and the task files, which a landing writes. */
function listing(root: string, path = ''): readonly string[] {
  const names = readdirSync(join(root, path)).filter((name) => path !== '' || name !== '.git')
  if (names.length === 0 && path !== '') return [`${path} is empty`]
  return names.toSorted().flatMap((name): readonly string[] => {
    const at = path === '' ? name : `${path}/${name}`
    const stats = lstatSync(join(root, at))
    if (at === 'docs/tasks') return []
    if (stats.isSymbolicLink()) return [`${at} -> ${readlinkSync(join(root, at))}`]
    if (stats.isDirectory()) return listing(root, at)
    if (!stats.isFile()) return [`${at} is no file`]
    const hash = createHash('sha256')
      .update(readFileSync(join(root, at)))
      .digest('hex')
      .slice(0, 8)
    return [`${at} ${(stats.mode & 0o100) === 0 ? 'file' : 'program'} ${hash}`]
  })
}

const lockOf = (version: string): string =>
  JSON.stringify({ packages: { 'node_modules/p': { version, integrity: `sha-${version}` } } })

/** What `npm ci` does: the packages are those of the lock file, whatever was there. */
function install(root: string): void {
  rmSync(join(root, 'node_modules'), { recursive: true, force: true })
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const version = /"version":"([^"]+)"/.exec(text)?.[1] ?? 'none'
  const files = { '.package-lock.json': text, 'p/index.js': `${version}\n`, 'p/cli.js': '#!/bin/sh\n' }
  put(join(root, 'node_modules'), files)
  chmodSync(join(root, 'node_modules/p/cli.js'), 0o755)
}

const SETTINGS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  plain: [],
  autocrlf: [['core.autocrlf', 'true']],
  modeless: [['core.fileMode', 'false']],
}
const FILTER = [
  ['filter.upper.clean', 'tr a-z A-Z'],
  ['filter.upper.smudge', 'tr A-Z a-z'],
] as const

interface Trial {
  readonly settings: string
  readonly jobs: number
  /** The scripts of the agents, one a task. */
  readonly agents: readonly (readonly string[])[]
  /** What gates leave. */
  readonly gates: readonly string[]
}

const trials: fc.Arbitrary<Trial> = fc.record({
  settings: anyOf(...Object.keys(SETTINGS)),
  jobs: fc.constantFrom(1, 1, 2),
  agents: fc.array(script(7), { minLength: 3, maxLength: 3 }),
  gates: fc.array(deed, { maxLength: 2 }),
})

function project({ settings }: Trial): string {
  const files = {
    a: 'A a\n',
    'b/c': 'x\n',
    'b/d.txt': 'd\r\nd\r\n',
    'run.sh': 'exit 0\n',
    'odd [*] name': 'o\n',
  }
  const ignored = '.ralph/\nnode_modules/\n.env\n*.log\n'
  const root = makeProject(3, { ...files, '.gitignore': ignored, 'package-lock.json': lockOf('1.0.0') })
  chmodSync(join(root, 'run.sh'), 0o755)
  git(root, 'commit', '-qam', 'Modes')
  for (const [key, value] of [...FILTER, ...SETTINGS[settings]!]) git(root, 'config', key, value)
  put(root, { '.env': 'KEY=1\n' })
  install(root)
  return root
}

function cloneOf(root: string, commit: string, { settings }: Trial): string {
  const clone = join(makeFolder(), 'clone')
  const given = [...FILTER, ...SETTINGS[settings]!].flatMap(([key, value]) => ['-c', `${key}=${value}`])
  execFileSync('git', ['clone', '-q', '--no-checkout', ...given, root, clone], { env: ENV })
  git(clone, 'checkout', '-q', '--detach', commit)
  return clone
}

/** A clone at a commit, made ready as a clean room is: with the files that git ignores before it. */
function readyClone(root: string, commit: string, trial: Trial): string {
  const clone = cloneOf(root, commit, trial)
  if (existsSync(join(clone, 'package-lock.json'))) install(clone)
  const before = cloneOf(root, `${commit}^`, trial)
  if (spawnSync('git', ['check-ignore', '-q', '.env'], { cwd: before, env: ENV }).status === 0) {
    rmSync(join(clone, '.env'), { recursive: true, force: true })
    cpSync(join(root, '.env'), join(clone, '.env'))
  }
  return clone
}

/** Runs all agents of a trial; gives what the gate saw where it passed. */
async function run(root: string, trial: Trial) {
  const seen: (readonly string[])[] = []
  const gate: Harness['gate'] = ({ name }, cwd) => {
    if (name === 'soil') perform(trial.gates, cwd)
    if (name !== 'check') return true
    const found = listing(cwd)
    const hasPassed = passes(cwd)
    if (hasPassed) seen.push(found)
    return hasPassed
  }
  const events = await runAll({
    root,
    options: { gates: [gateOf('check'), gateOf('soil')], retries: 0, jobs: trial.jobs },
    own: { copy: ['.env'] },
    deed: ({ cwd, task }) => {
      perform([...trial.agents[Number(task.id.slice(2)) - 1]!, `echo work > ${task.id}`], cwd)
    },
    gate,
    ports: {
      sleep,
      runInstall: async (one, { cwd }) => {
        install(cwd)
        return gateResult(one, true)
      },
    },
  })
  return { events, seen }
}

describe('whatever agents and gates do', () => {
  it(
    'the tree of each task’s commit passes its gates in a fresh clone, which holds what they saw',
    { timeout: 7_200_000 },
    async () => {
      let [landed, refused] = [0, 0]
      await fc.assert(
        fc.asyncProperty(trials, async (trial) => {
          const root = project(trial)
          const { events, seen } = await run(root, trial)
          const done = those(events, 'task-completed')
          expect(those(events, 'run-finished')).toMatchObject([{ held: [] }])
          landed += done.length
          refused += those(events, 'attempt-finished').filter(({ outcome }) => outcome !== 'done').length
          for (const { commit, id } of done) {
            expect(git(root, 'log', '-1', '--format=%(trailers:key=Gates,valueonly)', commit)).toBe(
              'check, soil',
            )
            const clone = readyClone(root, commit, trial)
            const found = listing(clone)
            const same = seen.some((one) => one.join('\n') === found.join('\n'))
            expect(same ? found : seen.at(-1), `${id}: what no gate saw`).toEqual(found)
            expect(passes(clone), `${id}: the gate in a clone`).toBe(true)
          }
        }),
        runs,
      )
      expect(landed).toBeGreaterThan(runs.numRuns / 2)
      expect(refused).toBeGreaterThan(0)
    },
  )
})
