import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { findConfig } from '../../config/load.ts'
import { withinRepository } from '../../config/root.ts'
import { readBacklog } from '../../backlog/read.ts'
import { taskFoldersOf } from '../../backlog/task-folders.ts'
import { taskVocabulary } from '../../backlog/vocabulary.ts'
import { doneView, planView } from '../../screen/init-view.ts'
import type { ContextOf } from '../commands.ts'
import { githubFiles, planSetup, type PlannedFile } from '../../authoring/init/plan.ts'
import { foreignBacklogs } from '../../authoring/origins.ts'
import { proposeAliases } from '../../authoring/init/propose-aliases.ts'
import { notWritten } from '../../base/atomic-file.ts'
import { prefixInRepository } from '../github.ts'
import type { Place } from '../../config/project.ts'
import { findTaskFolder, misnamedTasks } from '../../config/task-folder.ts'
import manifest from '../../../package.json' with { type: 'json' }

type Context = ContextOf<'init'>

/** Sets up a project: shows what it found and would write, asks, and writes missing files. */
export async function run(context: Context): Promise<number> {
  const place = withTasks(context, await context.place())
  const { root, folders, config } = place
  const dir = folders.first
  const { tasks } = existsSync(join(root, dir)) ? await readBacklog(place) : { tasks: [] }
  const hasTasks = tasks.length > 0
  const foreign = hasTasks ? [] : await foreignBacklogs(root)
  const configFile = findConfig(root)?.file ?? null
  const gates = detectGates(root)
  const aliases = proposeAliases(tasks)
  const schema = installedSchema(root)
  const planned = [
    ...planSetup({ dir, hasTasks, foreign, configFile, gates, aliases, schema }),
    ...forGithub(context, place),
  ]
  // With the proposed words more of the tasks may be clear.
  const vocabulary = taskVocabulary(configFile === null ? aliases : config.aliases)
  const understood = hasTasks ? (await readBacklog({ ...place, vocabulary })).tasks : []
  const written = planned.map(({ file }) => file)
  const words = Object.entries({ ...aliases.fields, ...aliases.statuses, ...aliases.sections })
  const found = {
    kept: configFile === null ? [] : [configFile],
    gates,
    aliases: words,
    unclear: understood.flatMap(({ file, problems: [first] }) =>
      first ? [{ file, message: first.message }] : [],
    ),
    misnamed: misnamedTasks(place),
    foreign,
  }
  if (!context.json) context.note(planView({ ...found, root, dir, files: written, tasks: understood.length }))
  const answer = planned.length > 0 ? await agreed(context) : 'yes'
  if (answer !== 'yes') return answer === 'no' ? 1 : INTERRUPTED
  for (const file of planned) write(root, file)
  return context.answer({ written, ...found, aliases: Object.fromEntries(words) }, () =>
    doneView(written, { hasTasks, foreign }),
  )
}

/** Where nothing names a task folder and the usual one is missing, the backlog that is elsewhere is meant. */
function withTasks({ where }: Context, place: Place): Place {
  const { root, folders } = place
  if (where.dir !== undefined || existsSync(join(root, folders.first)) || findConfig(root)) return place
  return { ...place, folders: taskFoldersOf([findTaskFolder(root)?.dir ?? folders.first]) }
}

/** The requested files for GitHub that do not exist yet. */
function forGithub({ options }: Context, { root, folders }: Place): readonly PlannedFile[] {
  const withRun = options.githubRun
  if (!withRun && !options.github) return []
  const { version } = manifest
  const files = githubFiles({ prefix: prefixInRepository(root), version, dir: folders.first, withRun })
  return files.filter(({ file }) => !existsSync(join(root, file)))
}

const SCHEMA = 'node_modules/ralph-tasks/dist/ralph.config.schema.json'

/** Finds ralph's schema in the project's packages: in its own folder, or one above, as in a monorepo. */
function installedSchema(root: string): string | null {
  const folder = withinRepository(root).find((one) => existsSync(join(one, SCHEMA)))
  if (folder === undefined) return null
  const path = relative(root, join(folder, SCHEMA)).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

const INTERRUPTED = 130

async function agreed({ options, io, json }: Context): Promise<'yes' | 'no' | 'interrupted'> {
  if (options.yes) return 'yes'
  const dialogue = json ? null : io.dialogue()
  if (dialogue === null)
    throw new UserError('ralph init asks before it writes', 'ralph init --yes writes without asking.')
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: 'Write these files?', ...dialogue })
  if (isCancel(answer)) return 'interrupted'
  return answer ? 'yes' : 'no'
}

function write(root: string, { file, text }: PlannedFile): void {
  const path = join(root, file)
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    throw notWritten(file, error)
  }
}
