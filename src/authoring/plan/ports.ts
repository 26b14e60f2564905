import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { AgentQuestion, AgentReply } from '../../agents/port.ts'
import { lint } from '../../backlog/lint/lint.ts'
import type { Task } from '../../backlog/model.ts'
import { presentFolders, readBacklog } from '../../backlog/read.ts'
import type { World } from '../../base/world.ts'
import { findConfig } from '../../config/load.ts'
import type { Place } from '../../config/project.ts'
import type { Happening } from '../../engine/events/event.ts'
import type { RunFolder } from '../../engine/folder.ts'
import { openLogs } from '../../engine/journal.ts'
import type { Emit } from '../../engine/ports.ts'
import type { Home } from '../../engine/slot/home.ts'
import { commit } from '../../git/commit.ts'
import { openReadingGit } from '../../git/door.ts'
import { knownFiles } from '../../git/names.ts'
import { ignoredPaths } from '../../git/repository.ts'
import { readStatus } from '../../git/status.ts'
import { composeMessage } from '../../git/trailers.ts'
import { mirrorPlanning } from '../bridges/run-state.ts'
import { lintContext } from '../lint-context.ts'
import { highestNumber } from '../new-task.ts'
import type { Mistake, Phase } from './answers.ts'
import type { Choice, Choices } from './decisions.ts'
import { Desk } from './desk.ts'
import type { Changes } from './drafts.ts'
import { planPlaces } from './find-plans.ts'
import type { NoteStore, PlanCommit } from './write-phase.ts'

/** The file in which other tools find the tasks of plans. */
export const EXPORT_FILE = 'implementation.json'

/** How planning asks a person, and shows its progress; a test ends the process at a checkpoint. */
export interface PlanFront {
  /** Asks a person, one decision at a time; null if nobody is there. */
  readonly decide: ((open: OpenDecision) => Promise<Choice | 'later'>) | null
  /** Asks whether to make these changes to the backlog; null if nobody is there. */
  readonly confirm: ((changes: Changes) => Promise<boolean>) | null
  /** Shows what an agent does. */
  readonly emit: Emit<Happening>
  readonly event: (event: PlanEvent) => void
  readonly checkpoint?: (name: PlanCheckpoint) => void
}

/** What is planned, and where it notes what is under way. */
export interface Planning {
  readonly world: World
  readonly place: Place
  readonly options: {
    /** Whether to accept the recommendations and the proposed changes to the backlog. */
    readonly yes: boolean
    readonly dryRun: boolean
    readonly noCommit: boolean
  }
  readonly front: PlanFront
  readonly home: Home
  readonly folder: RunFolder
  readonly note: NoteStore
}

/** Everything that planning uses. */
export type PlanPorts = ReturnType<typeof planPorts>

/** Makes them; `ask` puts a question to an agent. */
export function planPorts(
  { world, place, options, front, home, folder, note }: Planning,
  ask: (question: AgentQuestion) => Promise<AgentReply>,
) {
  const { root, vocabulary, config } = place
  const { Standard, Heavy } = config.tiers.rows
  const reading = openReadingGit({ cwd: root, env: world.env })
  // A new project may have no task folder yet.
  const backlog = async (): Promise<readonly Task[]> =>
    presentFolders(root, place.folders).length > 0 ? (await readBacklog(place)).tasks : []
  return {
    places: planPlaces(place),
    desk: new Desk(root),
    options,
    vocabulary,
    fromProduces: { Light: 0, Standard: Standard.fromProduces, Heavy: Heavy.fromProduces },
    /** The most tokens in a prompt. */
    promptBudget: config.prompt.budget,
    backlog,
    lint: async (tasks: readonly Task[]) => lint(tasks, await lintContext(place)),
    /** The highest task number on any branch, and in any worktree. */
    highest: async () => highestNumber(reading, place, await backlog()),
    /** Every file that git tracks, or that is new and not ignored, relative to the root. */
    files: () => knownFiles(reading),
    /** The texts of the files for other tools with these tasks and their status, by path. */
    async exported(tasks: readonly Task[]): Promise<ReadonlyMap<string, string>> {
      const [{ exportedTexts }, { withBridge }] = await Promise.all([
        import('../export-tasks.ts'),
        import('../bridges/configuration.ts'),
      ])
      const texts = await exportedTexts({ root, tasks }, 'implementation', {
        now: world.now(),
        isPrinted: true,
      })
      const bridge = { path: EXPORT_FILE, as: 'implementation', sync: true } as const
      const changed = withBridge(root, findConfig(root)?.file, bridge)
      const text = [...texts.values()].join('')
      return new Map([[EXPORT_FILE, text], ...(changed ? [[changed.file, changed.text] as const] : [])])
    },
    isIgnored: (paths: readonly string[]) => ignoredPaths(reading, paths),
    ask,
    /** Commits these paths as they are; null if nothing is to be committed. */
    commit:
      options.noCommit || options.dryRun ? null : (phase: PlanCommit) => commitPhase(home, phase, world),
    note,
    /** Reports the progress to other programs. */
    async mirror(progress: Parameters<typeof mirrorPlanning>[1]) {
      if (options.dryRun) return
      mirrorPlanning(folder.state, progress, { tasks: await backlog(), now: world.now() })
    },
    /** Stores a long wish where the agent can read it; returns its path, relative to the root. */
    keepWish(slug: string, wish: string) {
      const path = openLogs(folder, config.logs.maxBytes).result(`plan-${slug}.md`)
      writeFileSync(path, wish)
      return relative(root, path).replaceAll('\\', '/')
    },
    decide: front.decide,
    confirm: front.confirm,
    emit: front.event,
    now: world.now,
    /** Called between two side effects. */
    checkpoint: (name: PlanCheckpoint) => front.checkpoint?.(name),
  }
}

/** Commits a phase; returns the commit's hash, or why git did not make it. */
async function commitPhase(
  { git, prefix }: Home,
  { paths, subject, trailers }: PlanCommit,
  { urgent }: World,
): Promise<{ readonly commit: string } | { readonly problem: string }> {
  const wanted = paths.map((path) => `${prefix}${path}`)
  const { entries, head } = await readStatus(git)
  const changed = new Set(entries.map(({ path }) => path))
  const present = wanted.filter((path) => changed.has(path))
  const others = wanted.filter((path) => !changed.has(path))
  const ignored = others.length === 0 ? new Set() : await ignoredPaths(git, others)
  if (ignored.size > 0) return { problem: `git ignores ${[...ignored].join(', ')}` }
  // This process committed all of it before it died.
  if (present.length === 0) return { commit: head?.slice(0, 7) ?? '' }
  const message = composeMessage({ subject, body: '', trailers })
  const result = await commit(git, { message, paths: present, signal: urgent })
  if (result.kind === 'committed') return { commit: result.commit }
  const args = ['reset', '--quiet', '--pathspec-from-file=-', '--pathspec-file-nul']
  await git.run(args, { stdin: present.join('\0'), okCodes: [0, 1, 128] })
  return { problem: result.output }
}

/** The points between two effects of planning. */
type PlanCheckpoint = 'begun' | 'answered' | 'writing-noted' | 'file-written' | 'written' | 'committed'

/** A decision that waits for a person. */
interface OpenDecision extends Choices {
  readonly title: string
  readonly number: number
  readonly of: number
}

/** The events of planning, besides those of its agents. */
export type PlanEvent =
  | { readonly type: 'phase-started'; readonly slug: string; readonly phase: Phase; readonly tokens: number }
  | { readonly type: 'prompt'; readonly phase: Phase; readonly text: string }
  | {
      readonly type: 'answer-refused'
      readonly phase: Phase
      readonly mistakes: readonly Mistake[]
      /** How often it will still be asked. */
      readonly left: number
    }
  | {
      readonly type: 'phase-finished'
      readonly phase: Phase | 'aborted'
      readonly files: readonly string[]
      readonly commit: string | null
    }
  | { readonly type: 'warning'; readonly message: string }
