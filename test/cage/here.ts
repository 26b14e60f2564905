import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { cageAvailable } from '../../src/process/cage/available.ts'
import { agentPolicy, gatePolicy, type CageSettings } from '../../src/process/cage/rules.ts'
import { cagedStart } from '../../src/process/cage/start.ts'
import { lendGit } from '../../src/engine/slot/lent-git.ts'
import { NO_NEEDS, type CageNeeds } from '../../src/base/cage-needs.ts'
import { commit, git } from '../repository.ts'
import type { CagedAction } from '../../src/base/nouns.ts'
import type { Pty } from '../../src/process/terminal.ts'
import type { Running } from '../../src/process/start.ts'

/** Whether cages work here, by what; the tests of what they do are skipped where they do not. */
export const available = await cageAvailable({ env: process.env, cwd: '/' })
if (!available.ok) process.stderr.write(`skipped: the tests of the sandbox, for ${available.reason}\n`)

const NOTHING: CageSettings = { write: [], read: [], denyRead: [], network: [], gatesNetwork: [], copy: [] }

/** What a test decides of a cage. */
export interface Situation {
  readonly settings?: Partial<CageSettings>
  readonly needs?: Partial<CageNeeds>
  readonly kind?: 'agent' | 'gate'
  readonly env?: Readonly<Record<string, string>>
  readonly writable?: readonly string[]
  /** In the place of bubblewrap. */
  readonly program?: string
  /** What it prints to, and reads keys from. */
  readonly terminal?: Pty
  /** Hears all that it has printed, after each piece. */
  readonly onPrinted?: (output: string) => void
}

/**
 * A home with keys, in it a checkout, and a slot of that with a work folder in which everything runs: not below `/tmp`, of
 * which a cage has its own.
 */
export class Ground {
  readonly folder: string
  readonly home: string
  readonly checkout: string
  readonly slot: string
  /** The work folder. */
  readonly top: string
  readonly #head: string

  constructor() {
    const parent = join(process.env['HOME'] ?? homedir(), '.cache', 'ralph-tests')
    mkdirSync(parent, { recursive: true })
    this.folder = realpathSync(mkdtempSync(join(parent, 'cage-')))
    this.home = join(this.folder, 'home')
    this.checkout = join(this.home, 'work', 'shop')
    this.slot = join(this.home, '.cache/ralph/shop-1a2b3c4d/1')
    this.top = join(this.slot, 'work', 'shop')
    const files: Readonly<Record<string, string>> = {
      'home/.bashrc': 'mine\n',
      'home/.ssh/id_rsa': 'SECRET\n',
      'home/.aws/credentials': 'SECRET\n',
      'home/.gnupg/secring': 'SECRET\n',
      'home/.config/gh/hosts.yml': 'SECRET\n',
      'home/.netrc': 'SECRET\n',
      'home/.npmrc': '//registry/:_authToken=SECRET\n',
      'home/.git-credentials': 'SECRET\n',
      'home/.mozilla/cookies': 'SECRET\n',
      'home/.claude/.credentials.json': 'SECRET\n',
      'home/.claude/settings.json': '{}\n',
      'home/.codex/auth.json': 'SECRET\n',
      'home/.codex/config.toml': '\n',
      'home/.gemini/oauth_creds.json': 'SECRET\n',
      'home/.gemini/settings.json': '{}\n',
      'home/.config/opencode/opencode.json': '{}\n',
      'home/.cache/ralph/agent-other/prompt': 'SECRET\n',
      'home/work/other/README.md': 'theirs\n',
      'home/work/shop/README.md': '# shop\n',
      'home/work/shop/src/a.ts': 'a\n',
      'home/work/shop/.env': 'KEY=SECRET\n',
      'home/work/shop/.env.example': 'KEY=\n',
      'home/work/shop/.mcp.json': '{}\n',
      'home/work/shop/.claude/settings.json': '{}\n',
      'home/work/shop/.ralph/run.json': '{}\n',
      'home/work/shop/.ralph/results/baseline-1.json': '{}\n',
      'home/work/shop/ralph.config.json': '{}\n',
      'home/work/shop/.gitignore': '.ralph/\n.env\nnotes.txt\n',
      'home/work/shop/notes.txt': 'SECRET\n',
      [`${OWN}/1/check/shop/.env`]: 'KEY=SECRET\n',
      [`${OWN}/1/work.git/config`]: 'SECRET\n',
      [`${OWN}/1/slot.json`]: 'SECRET\n',
      [`${OWN}/2/work/shop/.env`]: 'KEY=SECRET\n',
      [`${OWN}/2/attempt/prompt`]: 'SECRET\n',
    }
    for (const [name, text] of Object.entries(files)) this.write(name, text)
    git(this.checkout, 'init', '-q', '-b', 'main')
    git(this.checkout, 'config', 'user.name', 'Ana')
    git(this.checkout, 'config', 'user.email', 'ana@example.com')
    git(this.checkout, 'remote', 'add', 'origin', 'https://SECRET@example.com/shop.git')
    this.#head = commit(this.checkout, 'Begin')
    const own = new Set(['.git', 'notes.txt'].map((name) => join(this.checkout, name)))
    cpSync(this.checkout, this.top, { recursive: true, filter: (path) => !own.has(path) })
    this.lendGit()
  }

  /** Makes the repository of the work folder anew. */
  lendGit(): void {
    const dir = join(this.checkout, '.git')
    lendGit(this.top, {
      branch: 'main',
      commit: this.#head,
      refs: [],
      objects: join(dir, 'objects'),
      settings: [],
      index: join(dir, 'index'),
      shallow: join(dir, 'shallow'),
    })
  }

  write(name: string, text: string): void {
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Starts a command of the shell in a cage; what it prints and what was refused is heard. */
  start(
    shell: string,
    { settings, needs, kind = 'agent', env = {}, writable, program, terminal, onPrinted }: Situation = {},
  ) {
    if (!available.ok) throw new Error('there is no cage here')
    const place = {
      top: this.top,
      root: this.top,
      checkout: this.checkout,
      borrowed: [join(this.checkout, '.git/objects')],
      tracked: ['.env.example'],
    }
    const full = { ...GIT, PATH: process.env['PATH'] ?? '', HOME: this.home, ...env }
    const world = { place, settings: { ...NOTHING, ...settings }, env: full }
    const start = cagedStart(program ?? available.program, (asked) =>
      kind === 'gate' ? gatePolicy(world, asked) : agentPolicy(world, { ...NO_NEEDS, ...needs }, asked),
    )
    const heard = { output: '', caged: [] as CagedAction[] }
    const running: Running = start(
      { shell },
      {
        cwd: this.top,
        env: full,
        onOutput: (chunk) => {
          heard.output += Buffer.from(chunk).toString()
          onPrinted?.(heard.output)
        },
        terminal,
        writable,
        onCaged: (action) => heard.caged.push(action),
        killAfterSeconds: 2,
      },
    )
    return { running, heard }
  }

  /** Runs one to its end. */
  async run(shell: string, situation?: Situation) {
    const { running, heard } = this.start(shell, situation)
    const end = await running.finished
    return { ...heard, end }
  }
}

/** The slots of the checkout. */
const OWN = 'home/.cache/ralph/shop-1a2b3c4d'

export const GIT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.com',
}
