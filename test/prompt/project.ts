import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assemblePrompt } from '../../src/prompt/assemble.ts'
import { gatherPrompt, type Gathered, type GatherRequest } from '../../src/prompt/gather.ts'
import type { Prompt } from '../../src/prompt/template.ts'
import type { Task } from '../../src/backlog/model.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { makeFolder, put } from '../repository.ts'

export type TestProject = ReturnType<typeof makeProject>

/** Where links and pipes can be made by anybody. */
export const HAS_LINKS: boolean = process.platform !== 'win32'

/** What of a request a test says itself. */
export type Wishes = Partial<Omit<GatherRequest, 'root' | 'isIgnored'>> & {
  readonly ignored?: readonly string[]
}

/** Makes a project of these files, by path, in a folder of its own. */
export function makeProject(files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const root = makeFolder()
  put(root, files)
  return {
    root,
    write: (path: string, content: string | Uint8Array) => put(root, { [path]: content }),
    link(path: string, target: string) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      symlinkSync(target, join(root, path))
    },
  }
}

/** A task of the text, as ralph reads it. */
export function readTask(id: string, text: string): Promise<Task> {
  return parseTask({ file: `docs/tasks/${id}.md`, text })
}

/** Gathers the prompt of a task; a path is ignored where the test says so, or a folder that it is in. */
export function gather(project: TestProject, task: Task, wishes: Wishes = {}): Promise<Gathered> {
  const { ignored = [], ...rest } = wishes
  const covers = (path: string): boolean => ignored.some((one) => path === one || path.startsWith(`${one}/`))
  return gatherPrompt({
    root: project.root,
    isIgnored: (paths) => Promise.resolve(new Set(paths.filter(covers))),
    task,
    backlog: [task],
    attempts: [],
    continues: null,
    hasTools: false,
    gates: [],
    limits: { budget: 60_000, fileCap: 15_000 },
    onDemand: false,
    mcpServers: {},
    ...rest,
  })
}

/** The prompt of a task in a project. */
export async function promptOf(project: TestProject, task: Task, wishes: Wishes = {}): Promise<Prompt> {
  const { input } = await gather(project, task, wishes)
  return assemblePrompt(input)
}
