// Shows the main job: `ralph run --loop` over the backlog of `tally`, in a temporary repository, on the embedded agent; at
// its end two tasks at once.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../dist/bin.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ralph-demo-'))
const repository = join(folder, 'tally')
// The repository is nobody's: no person's settings, hooks or pager reach it.
const env = {
  ...process.env,
  // The slots of its runs go with it.
  XDG_CACHE_HOME: join(folder, 'cache'),
  GIT_CONFIG_GLOBAL: join(folder, 'none'),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_PAGER: 'cat',
}

function git(...args) {
  execFileSync('git', args, { cwd: repository, stdio: 'ignore', env })
}

function say(command) {
  console.log(process.stdout.isTTY ? `\n\x1b[2m$\x1b[22m \x1b[1m${command}\x1b[22m` : `\n$ ${command}`)
}

function show(command, program, args, code = 0) {
  say(command)
  const { status, error } = spawnSync(program, args, { cwd: repository, stdio: 'inherit', env })
  if (error || status !== code) throw error ?? new Error(`${command} ended with ${status}`)
}

function ralph(args, code) {
  show(`ralph ${args.join(' ')}`, process.execPath, [bin, ...args], code)
}

try {
  cpSync(fileURLToPath(new URL('tally', import.meta.url)), repository, { recursive: true })
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.org')
  git('add', '-A')
  git('commit', '-q', '-m', 'Start with a backlog')

  ralph(['next'])
  ralph(['run', '--loop', '--max-tasks', '4', '--agent', 'script'])
  ralph(['next', '--jobs', '2'])
  // Two tasks are left after that: one is blocked, the other needs it. So the answer to a loop is no.
  ralph(['run', '--loop', '--jobs', '2', '--agent', 'script'], 1)
  ralph(['list'])
  say('cat docs/tasks/T-003.md')
  const task = readFileSync(join(repository, 'docs/tasks/T-003.md'), 'utf8')
  console.log(task.replace(/(## Script\n)[\s\S]*?(?=\n## )/, '$1\n…\n').trimEnd())
  show('git log', 'git', ['log', '-6', '--format=%C(auto)%h %C(reset)%s%n%n%w(0,4,4)%b'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}
