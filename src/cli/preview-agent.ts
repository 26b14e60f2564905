import { statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Task } from '../task/model.ts'
import type { Io } from './io.ts'
import type { Preview } from './project.ts'

/** The program of each agent that has one. Here again, for to ask the agents themselves takes longer than all else that `next` does. */
export const AGENT_PROGRAMS: Readonly<Record<string, string>> = {
  claude: 'claude',
  codex: 'codex',
  gemini: 'gemini',
  opencode: 'opencode',
  copilot: 'copilot',
  qwen: 'qwen',
  continue: 'cn',
}

/** Every agent that a task or the configuration may name. */
export const AGENT_NAMES: readonly string[] = [...Object.keys(AGENT_PROGRAMS), 'command', 'script']

/** Who would be asked to do a task: as it says, its discipline, its tier or the config; else the first that is installed. */
export async function previewAgent(
  task: Task,
  { config, root, tierOf }: Preview,
  env: Io['env'],
): Promise<string | null> {
  const own = task.agent ?? (await disciplinesAgent(task, root)) ?? config.tiers.rows[tierOf(task).tier].agent
  return own ?? config.agent ?? config.agents.find((name) => isInstalled(name, env)) ?? null
}

async function disciplinesAgent(task: Task, root: string): Promise<string | null> {
  if (task.discipline === null) return null
  const { findDiscipline } = await import('../prompt/library.ts')
  const lookup = await findDiscipline(root, task.discipline)
  return lookup.found ? lookup.value.agent : null
}

function isInstalled(agent: string, env: Io['env']): boolean {
  const program = AGENT_PROGRAMS[agent]
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter(Boolean)
  const endings = (env['PATHEXT'] ?? '').split(';')
  return (
    program !== undefined &&
    folders.some((folder) => endings.some((ending) => isThere(join(folder, program + ending))))
  )
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true
  } catch {
    return false
  }
}
