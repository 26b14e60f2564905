import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env, makeFolder, makeRepository, taskText } from '../repository.ts'
import { ralph, type Answer } from './ralph.ts'

/** A repository whose tasks carry their own scripts. */
export function repository(scripts: Readonly<Record<string, string>>, config: object = {}): string {
  const tasks = Object.entries(scripts).map(([id, script]) => [
    `docs/tasks/${id}.md`,
    `${taskText(id, `Do ${id}`)}\n## Script\n\n\`\`\`sh\n${script}\n\`\`\`\n`,
  ])
  return makeRepository({
    'package.json': '{}',
    ...Object.fromEntries(tasks),
    'ralph.config.json': JSON.stringify({ commit: { seal: false }, gates: [], ...config }),
  })
}

/** A repository that takes long to make: made once, and copied for each test. */
export function madeOnce(make: () => Promise<string>): () => Promise<string> {
  let made: Promise<string> | null = null
  return async () => {
    const root = makeFolder()
    cpSync(await (made ??= make()), root, { recursive: true })
    return root
  }
}

/** A shell command that an agent waits in until a test lets it go on. */
export function barrier(): { readonly waits: string; readonly letGo: () => void } {
  // Outside of the checkout: a slot has files of its own.
  const file = join(makeFolder(), 'go')
  return {
    waits: `until [ -e '${file}' ]; do sleep 0.05; done`,
    letGo: () => writeFileSync(file, ''),
  }
}

/** Runs it on the embedded agent. */
export const run = (cwd: string, ...argv: string[]): Promise<Answer> =>
  ralph(['run', '--agent', 'script', '--baseline', 'off', ...argv], { cwd, env })
