import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { cageAvailable } from '../../src/cage/available.ts'
import { agentPolicy, gatePolicy, type CageSettings } from '../../src/cage/rules.ts'
import { cagedStart } from '../../src/cage/start.ts'
import { NO_NEEDS, type CageNeeds } from '../../src/base/cage-needs.ts'
import type { CagedAction } from '../../src/events/caged.ts'
import type { Pty } from '../../src/process/pty.ts'
import type { ProcessEnd, Running } from '../../src/process/start.ts'

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
  readonly isOwn?: boolean
  /** In the place of bubblewrap. */
  readonly program?: string
  /** What it prints to, and reads keys from. */
  readonly terminal?: Pty
  /** Hears all that it has printed, after each piece. */
  readonly onPrinted?: (output: string) => void
}

/** What was seen of a caged command. */
export interface Seen {
  readonly output: string
  readonly end: ProcessEnd
  readonly caged: readonly CagedAction[]
}

/** A home with keys, and in it a repository: not below `/tmp`, of which a cage has its own. */
export class Ground {
  readonly folder: string
  readonly home: string
  readonly top: string

  constructor() {
    const parent = join(process.env['HOME'] ?? homedir(), '.cache', 'ralph-tests')
    mkdirSync(parent, { recursive: true })
    this.folder = realpathSync(mkdtempSync(join(parent, 'cage-')))
    this.home = join(this.folder, 'home')
    this.top = join(this.home, 'work', 'shop')
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
      'home/work/shop/.gitignore': '.ralph/\n.env\n',
    }
    for (const [name, text] of Object.entries(files)) this.write(name, text)
    const git = (...args: string[]) => spawnSync('git', args, { cwd: this.top, env: GIT })
    git('init', '-q', '-b', 'main')
    git('add', '-A')
    git('commit', '-q', '-m', 'Begin')
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
    {
      settings,
      needs,
      kind = 'agent',
      env = {},
      isOwn = false,
      program,
      terminal,
      onPrinted,
    }: Situation = {},
  ) {
    if (!available.ok) throw new Error('there is no cage here')
    const place = {
      top: this.top,
      root: this.top,
      git: [join(this.top, '.git')],
      isOwn,
      borrowed: [],
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
        onCaged: (action) => heard.caged.push(action),
        killAfterSeconds: 2,
      },
    )
    return { running, heard }
  }

  /** Runs one to its end. */
  async run(shell: string, situation?: Situation): Promise<Seen> {
    const { running, heard } = this.start(shell, situation)
    const end = await running.finished
    return { ...heard, end }
  }
}

export const GIT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.com',
}
