import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { UserError } from '../../base/errors.ts'
import type { Gate } from '../../base/nouns.ts'
import { GATE_TIMEOUT_SECONDS } from '../../config/defaults.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { findConfig } from '../../config/load.ts'
import { closestProject, isInRepository, upward } from '../../config/root.ts'
import { makeRepository } from '../../git/open-repository.ts'
import { presentFolders, readBacklog } from '../../backlog/read.ts'
import { taskFoldersOf } from '../../backlog/task-folders.ts'
import { taskVocabulary } from '../../backlog/vocabulary.ts'
import { doneView, planView } from '../../screen/init-view.ts'
import { fetchesIn, installCommands } from '../../engine/slot/packages.ts'
import type { ContextOf } from '../commands.ts'
import { githubFiles, planSetup, type PlannedFile } from '../../authoring/init/plan.ts'
import {
  questionsOn,
  statusTexts,
  withAnswers,
  type Answers,
  type Question,
} from '../../authoring/init/questions.ts'
import { foreignBacklogs } from '../../authoring/origins.ts'
import { proposeAliases } from '../../authoring/init/propose-aliases.ts'
import { notWritten } from '../../base/atomic-file.ts'
import { prefixInRepository } from '../github.ts'
import type { Place } from '../../config/project.ts'
import type { Config } from '../../config/defaults.ts'
import { entryText, tasksToRead, unreadTasks } from '../../config/unread.ts'
import { findTaskFolder, taskFolders } from '../../config/task-folder.ts'
import manifest from '../../../package.json' with { type: 'json' }

type Context = ContextOf<'init'>

/** Sets up a project: shows what it found and would write, asks, and writes missing files. */
export async function run(context: Context): Promise<number> {
  if ((await ensureRepository(context)) === 'interrupted') return INTERRUPTED
  const usual = withTasks(context, await context.place())
  const entry = tasksToRead(unreadTasks(usual), usual)
  const isNew = !findConfig(usual.root)
  const place = isNew && entry !== null ? await reading(usual, entry) : usual
  const { root, folders, config } = place
  const dir = folders.first
  const { tasks } = presentFolders(root, folders).length > 0 ? await readBacklog(place) : { tasks: [] }
  const hasTasks = tasks.length > 0
  const foreign = hasTasks ? [] : await foreignBacklogs(root)
  const configFile = findConfig(root)?.file ?? null
  let gates: readonly Gate[] = config.gates ?? detectGates(root)
  const proposed = proposeAliases(tasks, folders.ids)
  const vocabularyOf = (words: typeof proposed) =>
    taskVocabulary(configFile === null ? words : config.aliases, folders.ids)
  const read = async (words: typeof proposed) =>
    hasTasks ? (await readBacklog({ ...place, vocabulary: vocabularyOf(words) })).tasks : []
  const answers = await answersOf(context, async (answers) =>
    questionsOn(await read(withAnswers(proposed, answers)), configFile === null),
  )
  if (answers === null) return INTERRUPTED
  const aliases = withAnswers(proposed, answers)
  // With these words more of the tasks may be clear.
  const understood = await read(aliases)
  const edits = statusTexts(understood, answers, vocabularyOf(aliases))
  const schema = installedSchema(root)
  const plan = (): readonly PlannedFile[] =>
    [
      ...planSetup({
        dir,
        tasks: isNew ? entry : null,
        hasTasks,
        foreign,
        configFile,
        gates,
        aliases,
        schema,
      }),
      ...forGithub(context, place),
    ].filter(({ file }) => !existsSync(join(root, file)))
  const written = [...plan().map(({ file }) => file), ...edits.keys()]
  const words = Object.entries({ ...aliases.fields, ...aliases.statuses, ...aliases.sections })
  const found = {
    kept: configFile === null ? [] : [configFile],
    aliases: words,
    unclear: understood.flatMap(({ file, problems: [first] }) =>
      first && !edits.has(file) ? [{ file, message: first.message }] : [],
    ),
    misnamed: unreadTasks(place).map(({ file }) => file),
    entry: isNew || entry === null ? null : entryText(entry),
    foreign,
  }
  const show = (): void => {
    if (context.json) return
    context.note(planView({ ...found, gates, root, dir, files: written, tasks: understood.length }))
  }
  for (show(); written.length > 0; show()) {
    const answer = await agreed(context, configFile === null)
    if (answer === 'no') return 1
    if (answer === 'yes') break
    const edited = answer === 'gates' ? await editGates(context, gates) : null
    if (edited === null) return INTERRUPTED
    gates = edited
  }
  for (const file of plan()) write(root, file)
  for (const [file, text] of edits) writeFileSync(join(root, file), text)
  const document = { written, ...found, gates, aliases: Object.fromEntries(words) }
  return context.answer(document, () => doneView(written, { hasTasks, foreign }))
}

/** A run needs a repository: where there is none, it is made, if the person agrees. */
async function ensureRepository({ options, io, json }: Context): Promise<'interrupted' | undefined> {
  const root = closestProject(io.cwd) ?? io.cwd
  if (isInRepository(root)) return
  const dialogue = options.yes || json ? null : io.dialogue()
  const { confirm, isCancel } = await import('@clack/prompts')
  const message = 'There is no git repository here. Make one (git init)?'
  const isWanted = dialogue ? await confirm({ message, ...dialogue }) : options.yes
  if (isCancel(isWanted)) return 'interrupted'
  if (isWanted) await makeRepository(io, root)
}

/** The place with that entry in its configuration. */
async function reading(place: Place, tasks: Config['tasks']): Promise<Place> {
  const folders = await taskFolders(place.root, { tasks })
  return { ...place, folders, vocabulary: taskVocabulary(place.config.aliases, folders.ids) }
}

/** Where nothing names a task folder and the usual one is missing, the backlog that is elsewhere is meant. */
function withTasks({ where }: Context, place: Place): Place {
  const { root, folders } = place
  if (where.dir !== undefined || existsSync(join(root, folders.first)) || findConfig(root)) return place
  return { ...place, folders: taskFoldersOf([findTaskFolder(root)?.dir ?? folders.first]) }
}

/** The requested files for GitHub. */
function forGithub({ options }: Context, { root, folders, config }: Place): readonly PlannedFile[] {
  const withRun = options.githubRun
  if (!withRun && !options.github) return []
  const { version } = manifest
  const install = [...installCommands(root, config.workspace.prepare), ...fetchesIn(root)]
  const prefix = prefixInRepository(root)
  return githubFiles({ prefix, version, dir: folders.first, withRun, install })
}

const SCHEMA = 'node_modules/ralph-tasks/dist/ralph.config.schema.json'

/** Finds ralph's schema in the project's packages: in its own folder, or one above, as in a monorepo. */
function installedSchema(root: string): string | null {
  const folder = upward(root).find((one) => existsSync(join(one, SCHEMA)))
  if (folder === undefined) return null
  const path = relative(root, join(folder, SCHEMA)).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

const INTERRUPTED = 130

type Agreement = 'yes' | 'no' | 'gates' | 'interrupted'

async function agreed({ options, io, json }: Context, hasNewConfig: boolean): Promise<Agreement> {
  if (options.yes) return 'yes'
  const dialogue = json ? null : io.dialogue()
  if (dialogue === null)
    throw new UserError('ralph init asks before it writes', 'ralph init --yes writes without asking.')
  const { select, isCancel } = await import('@clack/prompts')
  const answer = await select({
    message: 'Write these files?',
    options: [
      { value: 'yes' as const, label: 'Yes' },
      { value: 'no' as const, label: 'No' },
      ...(hasNewConfig ? [{ value: 'gates' as const, label: 'Change the gates first' }] : []),
    ],
    ...dialogue,
  })
  return isCancel(answer) ? 'interrupted' : answer
}

/** Asks for each gate's command, and for one more; a gate without a command is left out. Null if the person leaves. */
async function editGates({ io }: Context, gates: readonly Gate[]): Promise<readonly Gate[] | null> {
  const { text, isCancel } = await import('@clack/prompts')
  const edited: Gate[] = []
  for (const gate of [...gates, newGate(gates)]) {
    const message = `${gate.name} (empty: none)`
    const answer = await text({ message, initialValue: gate.command, ...io.dialogue()! })
    if (isCancel(answer)) return null
    const command = answer.trim()
    if (command !== '') edited.push({ ...gate, command })
  }
  return edited
}

function newGate(gates: readonly Gate[]): Gate {
  const name = `gate ${gates.length + 1}`
  return { name, command: '', required: true, timeoutSeconds: GATE_TIMEOUT_SECONDS }
}

/** Asks a person at a terminal what only they know; null if they end it. */
async function answersOf(
  { options, io, json }: Context,
  questionsAfter: (answers: Answers) => Promise<readonly Question[]>,
): Promise<Answers | null> {
  const dialogue = json || options.yes ? null : io.dialogue()
  const answers: (readonly [Question, string])[] = []
  if (dialogue === null) return answers
  const { select, isCancel } = await import('@clack/prompts')
  // An answer may raise the next question.
  for (;;) {
    const next = (await questionsAfter(answers)).find(({ about, word }) =>
      answers.every(([asked]) => asked.about !== about || asked.word !== word),
    )
    if (!next) return answers
    const answer = await select({ message: next.message, options: [...next.options], ...dialogue })
    if (isCancel(answer)) return null
    answers.push([next, answer])
  }
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
