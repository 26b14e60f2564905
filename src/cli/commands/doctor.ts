import { installationOf, isNewEnough } from '../../agents/installation.ts'
import { AGENTS, firstInstalled, type AgentEntry } from '../../agents/registry.ts'
import { UserError } from '../../base/errors.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { findConfig, loadConfig, unreadConfig } from '../../config/load.ts'
import { findRoot } from '../../config/root.ts'
import { type Config, DEFAULTS } from '../../config/defaults.ts'
import { hiddenProgram, missingProgram, PACKAGES } from '../doctor/gate-programs.ts'
import type { Gate } from '../../base/nouns.ts'
import { openReadingGit } from '../../git/door.ts'
import type { StartProcess } from '../../process/start.ts'
import { doctorFindings, finding, type Finding } from '../doctor/findings.ts'
import { readBacklog } from '../../backlog/read.ts'
import { taskVocabulary } from '../../backlog/vocabulary.ts'
import { lint } from '../../backlog/lint/lint.ts'
import { doctorView } from '../../screen/doctor-view.ts'
import type { ContextOf } from '../commands.ts'
import { sandboxAvailable, sandboxHere, sandboxMode, type Starts } from '../setup/sandbox.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import type { Place } from '../../config/project.ts'
import { taskFolders } from '../../config/task-folder.ts'
import { removeSlots, slotFindings } from '../doctor/slots.ts'

type Context = ContextOf<'doctor'>

/** Checks everything that a run needs, and changes nothing unless asked to; exits with 1 if something prevents a run. */
export async function run(context: Context): Promise<number> {
  const { io, options } = context
  const root = findRoot(io.cwd, options.dir)
  const { config, findings: ofConfig } = await inspectConfig(root)
  const folders = await taskFolders(root, config, options.dir)
  const git = openReadingGit({ cwd: root, env: io.env })
  const caged = await sandboxHere(io, { root, config })
  const findings: readonly Finding[] = [
    ...ofConfig,
    ...(await inspectTasks({ root, config, folders, vocabulary: taskVocabulary(config.aliases) })),
    ...(await inspectGates(context, { root, config, caged })),
    ...(await inspectAgents(context, { root, config, caged })),
    await inspectSandbox(context, root, config),
    ...inspectNotify(context, config),
    ...(await doctorFindings({ git, root, dir: folders.first, now: io.now() })),
    ...(options.fix ? await removeSlots(io, { root, config }) : []),
    ...(await slotFindings(io, { root, config })),
  ]
  const isWell = findings.every(({ level }) => level !== 'problem')
  if (context.json) context.printJson({ version: 1, findings, ok: isWell })
  else context.print(doctorView(findings))
  return isWell ? 0 : 1
}

async function inspectConfig(root: string): Promise<{ config: Config; findings: readonly Finding[] }> {
  try {
    const config = await loadConfig(root)
    const file = findConfig(root)?.file ?? 'none, using defaults'
    return { config, findings: [finding('config', 'ok', file), ...inspectUnread(root)] }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return {
      config: DEFAULTS,
      findings: [finding('config', 'problem', error.message.replaceAll('\n', '; '), error.fix)],
    }
  }
}

function inspectUnread(root: string): readonly Finding[] {
  const file = unreadConfig(root)
  if (file === undefined) return []
  const message = `${file} is not read: ralph never runs config files`
  return [finding('config', 'note', message, 'Write what it says as ralph.config.json')]
}

async function inspectTasks(place: Place): Promise<readonly Finding[]> {
  try {
    const { tasks } = await readBacklog(place)
    const context = await lintContext(place)
    const errors = lint(tasks, context).filter(({ severity }) => severity === 'error').length
    const count = `${tasks.length} in ${place.folders.first}`
    return [
      errors === 0
        ? finding('tasks', 'ok', count)
        : finding('tasks', 'note', `${count}, with ${errors} lint errors`, 'ralph lint says which'),
    ]
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [finding('tasks', 'problem', error.message, error.fix)]
  }
}

/** What is checked, and how a run would start it in its sandbox. */
interface Here {
  readonly root: string
  readonly config: Config
  readonly caged: Starts | null
}

async function inspectGates({ io }: Context, { root, config, caged }: Here): Promise<readonly Finding[]> {
  const gates = config.gates ?? detectGates(root)
  const from = config.gates ? 'configured' : 'detected'
  const where = { cwd: root, env: io.env, start: caged?.gate ?? null }
  if (gates.length > 0) return Promise.all(gates.map((gate) => inspectGate(gate, from, where)))
  const fix = 'Give the commands that must pass as "gates" in ralph.config.json'
  return [finding('gates', 'note', 'none: nothing checks what the agent says', config.gates ? '' : fix)]
}

async function inspectGate({ name, command, required }: Gate, from: string, where: Where): Promise<Finding> {
  const gate = `${name}: ${command} (${from})`
  const lacks = (why: string, fix: string): Finding =>
    finding('gates', required ? 'problem' : 'note', `${gate} cannot start${why}`, fix)
  const missing = await missingProgram(command, { cwd: where.cwd, env: where.env })
  if (missing !== null) {
    const what = missing.startsWith(PACKAGES) ? "the project's packages" : missing
    const fix = `Install ${what}, or give other "gates" in ralph.config.json`
    return lacks(`: there is no ${missing} here`, fix)
  }
  const hidden = await hiddenIn(command, where)
  return hidden === null ? finding('gates', 'ok', gate) : lacks(...hidden)
}

/** Where a program is looked up, and what starts it in the sandbox. */
interface Where {
  readonly cwd: string
  readonly env: Context['io']['env']
  readonly start: StartProcess | null
}

/** Why a command cannot start in the sandbox, and what to do; null if nothing hides its programs. */
async function hiddenIn(
  command: string,
  { start, ...where }: Where,
): Promise<readonly [string, string] | null> {
  const hidden = start === null ? null : await hiddenProgram(command, { ...where, start })
  if (hidden === null) return null
  const { path, read } = hidden
  return [
    ` in the sandbox, which hides ${path}`,
    `Put it into the project, or allow it in ralph.config.json: "sandbox": { "read": ${JSON.stringify(read)} }`,
  ]
}

async function inspectAgents({ io }: Context, here: Here): Promise<readonly Finding[]> {
  const { config } = here
  const chosen =
    config.agent === null
      ? firstInstalled(config.agents, io.env)
      : AGENTS.find(({ name }) => name === config.agent)
  const shown = AGENTS.filter((entry) => entry.program !== null || entry === chosen)
  const looked = await Promise.all(
    shown.map((entry) => inspectAgent(entry, { ...here, io, isChosen: entry === chosen })),
  )
  if (chosen) return looked
  return [
    ...looked,
    finding(
      'agents',
      'problem',
      'no agent is installed',
      'Install one, or run your own with --agent command',
    ),
  ]
}

async function inspectAgent(
  { name, program, load }: AgentEntry,
  where: Here & { readonly io: Context['io']; readonly isChosen: boolean },
): Promise<Finding> {
  const { io, root, config, caged, isChosen } = where
  const provider = await load(config.command, config.pty)
  const { install, minimumVersion, preflight } = provider
  const installation = await installationOf(program, { cwd: root, env: io.env })
  const version = installation?.version ?? null
  const label = program === null ? name : `${name} ${version ?? '(version unknown)'}`
  const here = isChosen ? ', which runs here' : ''
  const comma = isChosen ? ',' : ''
  const lacks = (message: string, fix = '') => finding('agents', isChosen ? 'problem' : 'note', message, fix)
  if (program !== null && !installation) return lacks(`${name} is not installed`, install)
  if (installation?.failure)
    return lacks(`${name}${here}${comma} does not start: ${installation.failure}`, install)
  const newEnough = isNewEnough(version, minimumVersion)
  const [problem] = await preflight({ env: io.env, cwd: root })
  if (problem !== undefined) return lacks(`${label}${here}: ${problem}`)
  if (name === 'command' && config.command !== null) {
    const start = caged?.agent(provider) ?? null
    const hidden = await hiddenIn(config.command, { cwd: root, env: io.env, start })
    if (hidden !== null) return lacks(`${label}${here}${comma} cannot start${hidden[0]}`, hidden[1])
  }
  const note = (message: string, fix = '') => finding('agents', 'note', message, fix)
  if (newEnough === false) return note(`${label}${here}${comma} is older than ${minimumVersion}`, install)
  if (newEnough === null) return note(`${label}${here}: works from ${minimumVersion} on`)
  return finding('agents', 'ok', `${label}${here}`)
}

/** A missing sandbox prevents a run only if the configuration requires one. */
async function inspectSandbox({ io }: Context, root: string, config: Config): Promise<Finding> {
  const mode = sandboxMode(null, { env: io.env, config })
  if (mode === 'off') return finding('sandbox', 'note', 'off by configuration: agents may do what you may')
  const available = await sandboxAvailable(io.env, root)
  if (available.ok) return finding('sandbox', 'ok', `${available.program}, around agents and gates`)
  return finding('sandbox', mode === 'on' ? 'problem' : 'note', `none: ${available.reason}`, available.fix)
}

/** Whether the notification command or webhook can be called. */
function inspectNotify({ io }: Context, { notify: { command, webhook } }: Config): readonly Finding[] {
  const address = webhook?.slice('env:'.length)
  if (address !== undefined && !io.env[address]) {
    const fix = `Set ${address} to the address of "notify.webhook"`
    return [finding('notify', 'note', `no notifications: ${address} is not set`, fix)]
  }
  const ways = [...(command === null ? [] : ['a command']), ...(webhook === null ? [] : ['a webhook'])]
  return ways.length === 0 ? [] : [finding('notify', 'ok', `by ${ways.join(' and ')}`)]
}
