import { installationOf, isNewEnough } from '../../agents/installation.ts'
import { AGENTS, firstInstalled, type AgentEntry } from '../../agents/registry.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { findConfig, loadConfig, unreadConfig } from '../../config/load.ts'
import { findRoot } from '../../config/root.ts'
import { DEFAULTS, type Config } from '../../config/defaults.ts'
import { hiddenProgram, missingProgram, PACKAGES } from '../doctor/gate-programs.ts'
import type { Gate } from '../../base/nouns.ts'
import { openReadingGit } from '../../git/door.ts'
import type { StartProcess } from '../../process/start.ts'
import {
  type Finding,
  doctorFindings,
  finding,
  orProblem,
  removeSlots,
  slotFindings,
} from '../doctor/findings.ts'
import { readBacklog } from '../../backlog/read.ts'
import { taskVocabulary } from '../../backlog/vocabulary.ts'
import { lint } from '../../backlog/lint/lint.ts'
import { doctorView } from '../../screen/doctor-view.ts'
import type { ContextOf } from '../commands.ts'
import { sandboxAvailable, sandboxHere, sandboxMode, type Starts } from '../setup/sandbox.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import { taskFolders } from '../../config/task-folder.ts'
import type { World } from '../../base/world.ts'

/** Checks everything that a run needs, and changes nothing unless asked to; exits with 1 if something prevents a run. */
export async function run(context: ContextOf<'doctor'>): Promise<number> {
  const { io, options } = context
  const { env } = io
  const root = findRoot(io.cwd, options.dir)
  let config: Config = DEFAULTS
  const ofConfig = await orProblem('config', async () => {
    config = await loadConfig(root)
    return configFindings(root)
  })
  const folders = await taskFolders(root, config, options.dir)
  const place = { root, config, folders, vocabulary: taskVocabulary(config.aliases) }
  const git = openReadingGit({ cwd: root, env })
  const here = { root, config, env, caged: await sandboxHere(io, place) }
  const findings = [
    ...ofConfig,
    ...(await orProblem('tasks', async () => {
      const { tasks } = await readBacklog(place)
      const found = lint(tasks, await lintContext(place))
      const errors = found.filter(({ severity }) => severity === 'error').length
      const count = `${tasks.length} in ${folders.first}`
      if (errors === 0) return [finding('tasks', 'ok', count)]
      return [finding('tasks', 'note', `${count}, with ${errors} lint errors`, 'ralph lint says which')]
    })),
    ...(await gateFindings(here)),
    ...(await agentFindings(here)),
    await sandboxFinding(here),
    ...notifyFindings(here),
    ...(await doctorFindings({ git, root, dir: folders.first, now: io.now() })),
    ...(options.fix ? await removeSlots(io, place) : []),
    ...(await slotFindings(io, place)),
  ]
  const ok = findings.every(({ level }) => level !== 'problem')
  await context.answer({ findings, ok }, () => doctorView(findings))
  return ok ? 0 : 1
}

function configFindings(root: string): readonly Finding[] {
  const unread = unreadConfig(root)
  return [
    finding('config', 'ok', findConfig(root)?.file ?? 'none, using defaults'),
    ...(unread === undefined
      ? []
      : [
          finding(
            'config',
            'note',
            `${unread} is not read: ralph never runs config files`,
            'Write what it says as ralph.config.json',
          ),
        ]),
  ]
}

/** What is checked, and how a run would start it in its sandbox; null without one. */
interface Here {
  readonly root: string
  readonly config: Config
  readonly env: World['env']
  readonly caged: Starts | null
}

async function gateFindings(here: Here): Promise<readonly Finding[]> {
  const { root, config } = here
  const gates = config.gates ?? detectGates(root)
  if (gates.length > 0) return Promise.all(gates.map((gate) => gateFinding(gate, here)))
  const fix = 'Give the commands that must pass as "gates" in ralph.config.json'
  return [finding('gates', 'note', 'none: nothing checks what the agent says', config.gates ? '' : fix)]
}

async function gateFinding({ name, command, required }: Gate, here: Here): Promise<Finding> {
  const { root, env, config, caged } = here
  const gate = `${name}: ${command} (${config.gates ? 'configured' : 'detected'})`
  const lacks = (why: string, fix: string): Finding =>
    finding('gates', required ? 'problem' : 'note', `${gate} cannot start${why}`, fix)
  const missing = await missingProgram(command, { cwd: root, env })
  if (missing !== null) {
    const what = missing.startsWith(PACKAGES) ? "the project's packages" : missing
    const fix = `Install ${what}, or give other "gates" in ralph.config.json`
    return lacks(`: there is no ${missing} here`, fix)
  }
  const hidden = await hiddenIn(command, here, caged?.gate)
  return hidden === null ? finding('gates', 'ok', gate) : lacks(...hidden)
}

/** Why a command cannot start in the sandbox, and what to do; null if nothing hides its programs. */
async function hiddenIn(
  command: string,
  { root, env }: Here,
  start: StartProcess | undefined,
): Promise<readonly [string, string] | null> {
  const hidden = start ? await hiddenProgram(command, { cwd: root, env, start }) : null
  return (
    hidden && [
      ` in the sandbox, which hides ${hidden.path}`,
      `Put it into the project, or allow it in ralph.config.json: "sandbox": { "read": ${JSON.stringify(hidden.read)} }`,
    ]
  )
}

async function agentFindings(here: Here): Promise<readonly Finding[]> {
  const { agent, agents } = here.config
  const chosen = agent === null ? firstInstalled(agents, here.env) : AGENTS.find(({ name }) => name === agent)
  const shown = AGENTS.filter((entry) => entry.program !== null || entry === chosen)
  const found = await Promise.all(shown.map((entry) => agentFinding(entry, here, entry === chosen)))
  const fix = 'Install one, or run your own with --agent command'
  return chosen ? found : [...found, finding('agents', 'problem', 'no agent is installed', fix)]
}

async function agentFinding(
  { name, program, load }: AgentEntry,
  here: Here,
  isChosen: boolean,
): Promise<Finding> {
  const { root, env, config, caged } = here
  const provider = await load(config.command, config.pty)
  const { install, minimumVersion, preflight } = provider
  const installation = await installationOf(program, { cwd: root, env })
  const version = installation?.version ?? null
  const which = isChosen ? ', which runs here' : ''
  const label = `${program === null ? name : `${name} ${version ?? '(version unknown)'}`}${which}`
  const comma = isChosen ? ',' : ''
  const lacks = (message: string, fix = '') => finding('agents', isChosen ? 'problem' : 'note', message, fix)
  if (program !== null && !installation) return lacks(`${name} is not installed`, install)
  if (installation?.failure)
    return lacks(`${name}${which}${comma} does not start: ${installation.failure}`, install)
  const [problem] = await preflight({ env, cwd: root })
  if (problem !== undefined) return lacks(`${label}: ${problem}`)
  if (name === 'command' && config.command !== null) {
    const hidden = await hiddenIn(config.command, here, caged?.agent(provider))
    if (hidden) return lacks(`${label}${comma} cannot start${hidden[0]}`, hidden[1])
  }
  const isEnough = isNewEnough(version, minimumVersion)
  if (isEnough === true) return finding('agents', 'ok', label)
  return isEnough === false
    ? finding('agents', 'note', `${label}${comma} is older than ${minimumVersion}`, install)
    : finding('agents', 'note', `${label}: works from ${minimumVersion} on`)
}

/** A missing sandbox prevents a run only if the configuration requires one. */
async function sandboxFinding({ root, config, env }: Here): Promise<Finding> {
  const mode = sandboxMode(null, { env, config })
  if (mode === 'off') return finding('sandbox', 'note', 'off by configuration: agents may do what you may')
  const available = await sandboxAvailable(env, root)
  if (available.ok) return finding('sandbox', 'ok', `${available.program}, around agents and gates`)
  return finding('sandbox', mode === 'on' ? 'problem' : 'note', `none: ${available.reason}`, available.fix)
}

/** Whether the notification command or webhook can be called. */
function notifyFindings({ env, config: { notify } }: Here): readonly Finding[] {
  const { command, webhook } = notify
  const address = webhook?.slice('env:'.length)
  if (address !== undefined && !env[address]) {
    const fix = `Set ${address} to the address of "notify.webhook"`
    return [finding('notify', 'note', `no notifications: ${address} is not set`, fix)]
  }
  const ways = [...(command === null ? [] : ['a command']), ...(webhook === null ? [] : ['a webhook'])]
  return ways.length === 0 ? [] : [finding('notify', 'ok', `by ${ways.join(' and ')}`)]
}
