import { draftOf, draftWriter, openCriteria } from '../../backlog/draft.ts'
import { EXAMPLE_DESCRIPTION } from '../../backlog/template.ts'
import { TASK_VOCABULARY } from '../../backlog/vocabulary.ts'
import { TASK_FOLDER } from '../../config/defaults.ts'
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

/** The files to write: a first task if there is none, and a configuration if there is none. */
export function planSetup(findings: InitFindings): readonly PlannedFile[] {
  const task = {
    file: `${findings.dir}/T-001.md`,
    text: draftWriter([], TASK_VOCABULARY)('T-001', FIRST_TASK),
  }
  const config = { file: 'ralph.config.json', text: `${JSON.stringify(configOf(findings), null, 2)}\n` }
  return [
    ...(findings.hasTasks || findings.foreign.length > 0 ? [] : [task]),
    ...(findings.configFile === null ? [config] : []),
  ]
}

function configOf({ dir, gates, aliases, schema }: InitFindings): object {
  const named = Object.entries(aliases).filter(([, words]) => Object.keys(words).length > 0)
  return {
    ...(schema === null ? {} : { $schema: schema }),
    ...(dir === TASK_FOLDER ? {} : { tasks: dir }),
    ...(named.length > 0 ? { aliases: Object.fromEntries(named) } : {}),
    // An empty list would mean that there are no gates, permanently.
    ...(gates.length > 0 ? { gates: gates.map(gateOf) } : {}),
  }
}

function gateOf({ name, command, required }: Gate): object {
  return { name, command, ...(required ? {} : { required }) }
}

const FIRST_TASK = draftOf({
  title: 'Add the login form',
  status: 'BLOCKED',
  complexity: 'Light',
  provenance: 'system',
  description: EXAMPLE_DESCRIPTION,
  criteria: openCriteria(['An empty password is refused with a message']),
  produces: ['src/login.ts'],
  blockedReason:
    'This is an example, and no agent works on it: make it a task of yours, with the status TODO and without this section, or delete the file.',
})
