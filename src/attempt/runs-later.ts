import type { Work, Workspace } from '../workspace/port.ts'

/** Folders, at any depth, with files that agents, editors and git run by themselves. */
const FOLDERS = new Set(
  '.claude .codex .continue .copilot .cursor .devcontainer .gemini .githooks .husky .opencode .qwen'.split(
    ' ',
  ),
)
/** Single files of that kind; those of `.vscode` are in a folder with much else. */
const FILES = new Set(['.envrc', '.mcp.json', 'opencode.json', 'opencode.jsonc'])
const IN_FOLDERS = /(?:^|\/)\.vscode\/(?:tasks|settings|launch|mcp)\.json$/

/** Those that projects often ignore in git: their changes do not appear in the work. */
const OFTEN_IGNORED = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.codex/config.toml',
  '.codex/hooks.json',
  '.cursor/hooks.json',
  '.cursor/mcp.json',
  '.envrc',
  '.gemini/.env',
  '.gemini/settings.json',
  '.mcp.json',
  '.opencode/opencode.json',
  '.qwen/.env',
  '.qwen/settings.json',
  '.vscode/mcp.json',
  '.vscode/settings.json',
  '.vscode/tasks.json',
  'opencode.json',
  'opencode.jsonc',
]

/** The text of each such file before an agent begins. */
export type ConfigurationTexts = ReadonlyMap<string, string | null>

/** Reads the files that git may not show. */
export function noteConfiguration({ inspect }: Pick<Workspace, 'inspect'>): ConfigurationTexts {
  return new Map(OFTEN_IGNORED.map((file) => [file, inspect.text(file)]))
}

/** The files that the agent has changed which decide what an agent, an editor or git runs later. */
export function changedConfiguration(
  before: ConfigurationTexts,
  { changes }: Pick<Work, 'changes'>,
  { inspect, prefix }: Pick<Workspace, 'inspect' | 'prefix'>,
): readonly string[] {
  const hooks = inspect.hooksFolder()
  const shown = changes
    .map(({ path }) => path)
    .filter((path) => decidesLater(path) || (hooks !== null && path.startsWith(hooks)))
  const noted = [...before].filter(([file, text]) => inspect.text(file) !== text)
  return [...new Set([...shown, ...noted.map(([file]) => `${prefix}${file}`)])]
}

/** Ignores case, as some file systems do. */
function decidesLater(path: string): boolean {
  const lower = path.toLowerCase()
  const folders = lower.split('/')
  const name = folders.pop()!
  return folders.some((folder) => FOLDERS.has(folder)) || FILES.has(name) || IN_FOLDERS.test(lower)
}
