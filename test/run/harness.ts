import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Interference, RunEvent } from '../../src/engine/events/event.ts'
import { stateKeeper } from '../../src/authoring/bridges/run-state.ts'
import { runTasks } from '../../src/engine/run.ts'
import { git, makeRepository, put } from '../repository.ts'
import { gateOf, makePorts, OPTIONS, type Deed, type Harness } from './ports.ts'

/** A task file in the ordinary style. */
export function taskText(
  id: string,
  more: { depends?: string; milestone?: string; rest?: string } = {},
): string {
  const fields = [`- **Status**: TODO`]
  if (more.milestone) fields.push(`- **Milestone**: ${more.milestone}`)
  fields.push(`- **Depends**: ${more.depends ?? 'none'}`)
  return `# ${id}: Do ${id}\n\n${fields.join('\n')}\n\n## Description\nDo it.\n${more.rest ?? ''}`
}

/** A repository with so many tasks, from T-1 on, or with these texts by their ids; and with other files. */
export function makeProject(
  tasks: number | Readonly<Record<string, string>> = 1,
  files: Readonly<Record<string, string>> = {},
): string {
  const texts =
    typeof tasks === 'number'
      ? Array.from({ length: tasks }, (_, index) => [`T-${index + 1}`, taskText(`T-${index + 1}`)] as const)
      : Object.entries(tasks)
  return makeRepository({
    'README.md': '# shop\n',
    '.gitignore': '.ralph/\n',
    ...Object.fromEntries(texts.map(([id, text]) => [`docs/tasks/${id}.md`, text])),
    ...files,
  })
}

/** An agent that makes one file of its own for each task. */
export const works: Deed = ({ cwd, task }) => put(cwd, { [`src/${task.id}.ts`]: 'export {}\n' })

/** Runs to the end, with one gate where it is said what that finds; gives all that happened. */
export async function runAll(harness: Harness): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  const ports = await makePorts(harness)
  const keepState = stateKeeper(ports.folder.state, () => ports.source.tasks())
  const gates = harness.gate ? [gateOf('test')] : []
  await runTasks({ ...OPTIONS, gates, ...harness.options }, ports, (event) => {
    keepState(event)
    events.push(event)
    harness.hear?.(event)
  })
  return events
}

/** The events of one kind. */
export function those<Type extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: Type,
): readonly Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type)
}

/** What agents did that was not theirs to do. */
export const interferences = (events: readonly RunEvent[]): readonly Interference[] =>
  those(events, 'interference').map(({ interference }) => interference)

export function read(root: string, path: string): string | null {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null
}

/** The subjects of the commits, newest first, on lines. */
export const log = (root: string, revision = 'HEAD'): string => git(root, 'log', '--format=%s', revision)

/** What is not committed, on lines. */
export const status = (root: string): string => git(root, 'status', '--porcelain')

/** The files that a commit changes. */
export const changedIn = (root: string, commit = 'HEAD'): readonly string[] =>
  git(root, 'show', '--format=', '--name-only', commit).split('\n')

/** A trailer of the last commit. */
export const trailer = (root: string, key: string): string =>
  git(root, 'log', '-1', `--format=%(trailers:key=${key},valueonly)`)
