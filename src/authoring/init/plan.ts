import { readFileSync } from 'node:fs'
import { builtFile } from '../../base/built-file.ts'
import { draftOf, draftWriter, openCriteria } from '../../backlog/draft.ts'
import { TASK_VOCABULARY } from '../../backlog/vocabulary.ts'
import { shortEntry } from '../../config/unread.ts'
import { type Config, IF_GREEN, TASK_FOLDER } from '../../config/defaults.ts'
import type { Gate } from '../../base/nouns.ts'
import type { ProposedAliases } from './propose-aliases.ts'

/** A file that setting up writes, unless it exists. */
export interface PlannedFile {
  /** Relative to the root. */
  readonly file: string
  readonly text: string
}

/** The state of a project before it is set up. */
export interface InitFindings {
  /** The task folder. */
  readonly dir: string
  /** What the configuration must say of tasks, so that all of them are read; null if the folder is enough. */
  readonly tasks?: Config['tasks'] | null
  readonly hasTasks: boolean
  /** The paths of other tools' backlogs. */
  readonly foreign: readonly string[]
  /** The existing configuration; null if there is none. */
  readonly configFile: string | null
  readonly gates: readonly Gate[]
  readonly aliases: ProposedAliases
  /** Where an editor finds the configuration's schema; null if it cannot find it. */
  readonly schema: string | null
}

/** The files to write: a page on tasks if there is none, and a configuration if there is none. */
export function planSetup(findings: InitFindings): readonly PlannedFile[] {
  const page = { file: `${findings.dir}/README.md`, text: TASKS_PAGE }
  const config = { file: 'ralph.config.json', text: `${JSON.stringify(configOf(findings), null, 2)}\n` }
  return [
    ...(findings.hasTasks || findings.foreign.length > 0 ? [] : [page]),
    ...(findings.configFile === null ? [config] : []),
  ]
}

function configOf({ dir, tasks = null, gates, aliases, schema }: InitFindings): object {
  const named = Object.entries(aliases).filter(([, words]) => Object.keys(words).length > 0)
  return {
    ...(schema === null ? {} : { $schema: schema }),
    ...(tasks !== null ? { tasks: typeof tasks === 'string' ? tasks : shortEntry(tasks) } : {}),
    ...(tasks !== null || dir === TASK_FOLDER ? {} : { tasks: dir }),
    ...(named.length > 0 ? { aliases: Object.fromEntries(named) } : {}),
    // An empty list would mean that there are no gates, permanently.
    ...(gates.length > 0 ? { gates: gates.map(gateOf) } : {}),
  }
}

function gateOf({ name, command, ifGreen }: Gate): object {
  return { name, command, ...(ifGreen ? { required: IF_GREEN } : {}) }
}

const EXAMPLE = draftOf({
  title: 'Add the login form',
  description: 'Email and password, for members who have an account. Login is the first thing that they see.',
  criteria: openCriteria(['An empty password is refused with a message']),
  produces: ['src/login.ts'],
})

/** The page that explains the task folder, which git would not keep while it is empty. The example is a comment. */
const TASKS_PAGE = `# Tasks

Each task is a file here, \`T-001.md\` and so on: \`ralph new "Title"\` writes the next one, and you fill it in for somebody who has never seen this project.

<!-- An example:

${draftWriter([], TASK_VOCABULARY)('T-001', EXAMPLE)}
-->
`

/** What the files for GitHub depend on. */
interface GithubFindings extends Pick<InitFindings, 'dir'> {
  /** The path from the top of the repository to the project: empty, or ending with a slash. */
  readonly prefix: string
  /** The version of ralph that the workflows install. */
  readonly version: string
  /** Whether to add a workflow that runs agents. */
  readonly withRun: boolean
  /** The commands that install the project's packages. */
  readonly install: readonly string[]
}

/** The files for a team on GitHub: checks of pull requests, templates, and a workflow that runs agents. */
export function githubFiles({
  prefix,
  version,
  dir,
  withRun,
  install,
}: GithubFindings): readonly PlannedFile[] {
  const up = '../'.repeat(prefix.split('/').length - 1)
  const names = [
    'workflows/ralph-check.yml',
    ...(withRun ? ['workflows/ralph-run.yml'] : []),
    'ISSUE_TEMPLATE/ralph-task.yml',
    'PULL_REQUEST_TEMPLATE/ralph-tasks.md',
  ]
  return names.map((name) => {
    const text = readFileSync(builtFile(`github/${name}`), 'utf8')
      .replace('RALPH_VERSION', () => version)
      .replace('TASK_FOLDER', () => dir)
    const own = prefix === '' ? text.replace(ELSEWHERE, '') : text
    return {
      file: `${up}.github/${name}`,
      text: withInstall(own, install).replace('PROJECT_FOLDER', () => JSON.stringify(prefix.slice(0, -1))),
    }
  })
}

/** Fills in the step that installs the project's packages, with the tools that GitHub's machines lack; or leaves it out. */
function withInstall(text: string, install: readonly string[]): string {
  if (install.length === 0) return text.replace(INSTALL, '')
  const tools = TOOLS.filter(({ programs }) => install.some((command) => programs.test(command)))
  const commands = [...tools.map(({ command }) => command), ...install].join('\n')
  return text.replace(
    /^( *)PROJECT_INSTALL$/m,
    (_, indent: string) => indent + commands.replaceAll('\n', `\n${indent}`),
  )
}

const INSTALL = / *- name: Install the project's packages\n *run: \|\n *PROJECT_INSTALL\n/

const TOOLS: readonly { readonly programs: RegExp; readonly command: string }[] = [
  { programs: /\b(?:pnpm|yarn)\b/, command: 'corepack enable' },
  { programs: /\bbun\b/, command: 'npm install --global bun' },
  { programs: /\buv\b/, command: 'pipx install uv' },
  { programs: /\bpoetry\b/, command: 'pipx install poetry' },
  { programs: /\bpipenv\b/, command: 'pipx install pipenv' },
]

/** What a workflow says of the folder of a project that is not at the top of its repository. */
const ELSEWHERE = / *defaults:\n *run:\n *working-directory: PROJECT_FOLDER\n/
