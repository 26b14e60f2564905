// Shows the main job: `ralph run --loop` over the backlog of `tally`, in a temporary repository, on the embedded agent.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../dist/bin.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ralph-demo-'))
const repository = join(folder, 'tally')

/** Says what is run, and runs it where everybody can see it. */
function show(words, command, args) {
  console.log(`\n\x1b[2m$\x1b[22m \x1b[1m${words}\x1b[22m`)
  execFileSync(command, args, { cwd: repository, stdio: 'inherit', env })
}

function ralph(...args) {
  show(`ralph ${args.join(' ')}`, process.execPath, [bin, ...args])
}

// The demo's repository is nobody's: it must not ask for a key, nor run anybody's hooks.
const env = { ...process.env, GIT_CONFIG_GLOBAL: join(folder, 'none'), GIT_CONFIG_NOSYSTEM: '1', GIT_PAGER: 'cat' }
const git = (...args) => execFileSync('git', args, { cwd: repository, stdio: 'ignore', env })

try {
  cpSync(fileURLToPath(new URL('tally', import.meta.url)), repository, { recursive: true })
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.org')
  git('add', '-A')
  git('commit', '-q', '-m', 'Start with a backlog')

  ralph('next')
  ralph('run', '--loop', '--agent', 'script')
  show('git log', 'git', ['log', '--format=%C(auto)%h%C(reset) %s%n%w(100,8,8)%b', '--stat=100'])
  const task = readdirSync(join(repository, 'docs/tasks')).find((name) => name.startsWith('T-003'))
  const text = readFileSync(join(repository, 'docs/tasks', task), 'utf8')
  console.log(`\n\x1b[2m$\x1b[22m \x1b[1mcat docs/tasks/${task}\x1b[22m`)
  console.log(text.replace(/(## Script\n)[\s\S]*?(?=\n## )/, '$1\n…\n'))
  ralph('verify')
  ralph('list')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
