import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { stateKeeper } from '../../src/authoring/bridges/run-state.ts'
import { runTasks } from '../../src/engine/run.ts'
import { makeRepository } from '../git/repository.ts'
import { makePorts, OPTIONS } from './ports.ts'
import type { Harness } from './ports.ts'

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

/** A repository with these tasks, each as its file's text. */
export function makeProject(
  tasks: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): string {
  const taskFiles = Object.entries(tasks).map(([id, text]) => [`docs/tasks/${id}.md`, text])
  return makeRepository({
    'README.md': '# shop\n',
    '.gitignore': '.ralph/\n',
    ...Object.fromEntries(taskFiles),
    ...files,
  })
}

/** Runs to the end; gives all that happened. */
export async function runAll(harness: Harness): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  const ports = await makePorts(harness)
  const keepState = stateKeeper(ports.folder.state, () => ports.source.tasks())
  await runTasks({ ...OPTIONS, ...harness.options }, ports, (event) => {
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

export function read(root: string, path: string): string | null {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null
}
