import type { Home } from './slot/home.ts'
import { isHook } from './gate-files.ts'
import type { Work } from './slot/slot.ts'

/**
 * The last commit that a person made on the first-parent line of a tip: one without ralph's trailers. What agents wrote
 * since is not in force; a person's next commit, such as a merge or that of `ralph trust`, accepts it.
 */
export async function lastTrusted({ git }: Pick<Home, 'git'>, tip: string): Promise<string> {
  const args = ['log', '--first-parent', '--invert-grep', '--grep=^Task: ', '--max-count=1', '--format=%H']
  return (await git.run([...args, tip])).stdout.toString().trim() || tip
}

/** Folders, at any depth, with files that agents, editors and git run by themselves. */
const FOLDERS = new Set(
  '.claude .codex .continue .copilot .cursor .devcontainer .gemini .githooks .husky .opencode .qwen'.split(
    ' ',
  ),
)
/** Single files of that kind; those of `.vscode` are in a folder with much else. */
const FILES = new Set(['.envrc', '.mcp.json', 'opencode.json', 'opencode.jsonc'])
const IN_FOLDERS = /(?:^|\/)\.vscode\/(?:tasks|settings|launch|mcp)\.json$/

/** The files of the work that decide what an agent, an editor or git runs later. */
export function changedConfiguration({ changes }: Pick<Work, 'changes'>, home: Home): readonly string[] {
  return changes.map(({ path }) => path).filter((path) => decidesLater(path) || isHook(path, home))
}

/** Ignores case, as some file systems do. */
function decidesLater(path: string): boolean {
  const lower = path.toLowerCase()
  const folders = lower.split('/')
  const name = folders.pop()!
  return folders.some((folder) => FOLDERS.has(folder)) || FILES.has(name) || IN_FOLDERS.test(lower)
}
