import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

/** The versions that ralph is tested with, and what a package needs that does not get it from npm alone. */
export const PINNED = {
  claude: {
    package: '@anthropic-ai/claude-code',
    version: '2.1.326',
    finish: 'install.cjs',
    binary: 'claude',
  },
  codex: { package: '@openai/codex', version: '0.169.0', finish: null, binary: 'codex' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', finish: null, binary: 'gemini' },
  opencode: { package: 'opencode-ai', version: '1.18.33', finish: 'postinstall.mjs', binary: 'opencode' },
  copilot: { package: '@github/copilot', version: '1.0.102', finish: null, binary: 'copilot' },
  qwen: { package: '@qwen-code/qwen-code', version: '0.24.4', finish: null, binary: 'qwen' },
  continue: { package: '@continuedev/cli', version: '1.5.47', finish: null, binary: 'cn' },
} as const

export type AgentName = keyof typeof PINNED

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of each agent's program; an agent that could not be had is missing. */
    readonly programs: Readonly<Partial<Record<AgentName, string>>>
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const CACHE = process.env['RALPH_AGENT_CACHE'] ?? path.join(ROOT, 'node_modules/.cache/agents')

/** A folder that nobody else can write to, as `/tmp` is not: Gemini reads settings from no other. */
export const TEMPORARY = path.join(CACHE, 'tmp')

/** Installs what is missing in the cache, which `RALPH_AGENT_CACHE` names; `RALPH_AGENTS` says which agents. */
export function setup(project: TestProject): void {
  mkdirSync(TEMPORARY, { recursive: true, mode: 0o700 })
  const wanted = process.env['RALPH_AGENTS']?.split(',') ?? Object.keys(PINNED)
  const programs: Partial<Record<AgentName, string>> = {}
  for (const name of Object.keys(PINNED) as AgentName[]) {
    if (!wanted.includes(name)) continue
    try {
      programs[name] = install(name, path.join(CACHE, name))
    } catch (error) {
      const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
      process.stderr.write(`skipped: ${name} ${PINNED[name].version} cannot be installed (${reason})\n`)
    }
  }
  project.provide('programs', programs)
}

function install(name: AgentName, folder: string): string {
  const { package: packageName, version, finish, binary } = PINNED[name]
  const home = path.join(folder, 'node_modules', packageName)
  const programs = path.join(folder, 'node_modules/.bin')
  if (installedVersion(home) !== version) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'package.json'), '{"private":true}')
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-save']
    execFileSync('npm', ['install', ...options, `${packageName}@${version}`], { cwd: folder, stdio: 'pipe' })
    if (finish) execFileSync(process.execPath, [finish], { cwd: home, stdio: 'pipe' })
  }
  execFileSync(path.join(programs, binary), ['--version'], { stdio: 'pipe' })
  return programs
}

function installedVersion(home: string): string | null {
  const file = path.join(home, 'package.json')
  if (!existsSync(file)) return null
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
