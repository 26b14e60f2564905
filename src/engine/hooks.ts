import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readPlainFile } from '../base/read-file.ts'
import type { Happening } from './events/event.ts'
import { contentsOf } from '../git/contents.ts'
import { entriesIn } from '../git/tree.ts'
import { installing, runLogged, type CheckPorts } from './check.ts'
import type { Emit } from './ports.ts'
import { hooksInTree, type Home } from './slot/home.ts'

/** The hooks that git runs around a commit. */
const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit']
/** Limits how long a hook can hold up a run. */
const TIMEOUT_SECONDS = 1800
const MESSAGE_BYTES = 1024 * 1024

/** What hooks made of a commit: its files and its message. They have no other say. */
type Hooked =
  | { readonly kind: 'done'; readonly tree: string; readonly message: string }
  | { readonly kind: 'refused'; readonly output: string }
  | { readonly kind: 'interrupted' }

/** A commit that hooks are to see before it is made. */
interface HookedCommit {
  readonly id: string
  /** The commit below it. */
  readonly parent: string
  readonly branch: string | null
  readonly tree: string
  readonly message: string
  /** The commit whose hooks are in force. */
  readonly inForce: string
}

/** Whether the repository has hooks for commits. */
export function hasHooks({ hooks }: Pick<Home, 'hooks'>): boolean {
  return HOOKS.some((name) => isProgram(join(hooks, name)))
}

/**
 * Has git commit in the clean room, with the person's hooks, in the gates' cage. The commit itself is thrown away: ralph
 * makes its own of the files and the message that the hooks leave.
 */
export async function runHooks(
  commit: HookedCommit,
  ports: CheckPorts,
  emit: Emit<Happening>,
  isAgain = false,
): Promise<Hooked> {
  const { slot, home } = ports
  const { id, parent, branch, tree, message } = commit
  const problem = await slot.bringCheck(tree, { head: parent, branch }, installing(ports, emit, 'check'))
  if (problem !== null) return { kind: 'refused', output: problem }
  const hooks = await layOutHooks(home, commit.inForce, slot.hooks)
  const top = slot.check.folder.files
  writeFileSync(join(top, '.git/ralph-message'), message)
  const settings = [`core.hooksPath=${hooks}`, 'commit.gpgSign=false', 'gc.auto=0']
  const command = [
    'git',
    ...settings.map((setting) => `-c '${setting.replaceAll("'", String.raw`'\''`)}'`),
    'commit --quiet --cleanup=whitespace --allow-empty -F .git/ralph-message',
  ].join(' ')
  const gate = {
    name: 'hooks',
    command: `cd '${top.replaceAll("'", String.raw`'\''`)}' && ${command}`,
    required: true,
    timeoutSeconds: TIMEOUT_SECONDS,
  }
  const result = await runLogged(gate, ports.check.runGate, ports, {
    name: id,
    side: slot.check,
    onCaged: (action) => emit({ type: 'caged', id, by: 'gate', ...action }),
  })
  const after = await slot.takeHooked()
  slot.checkWasUsed()
  if (result.verdict === 'interrupted') return { kind: 'interrupted' }
  // A hook that formats files refuses the commit, so that a person looks at them and commits again.
  if (result.verdict !== 'passed' && after !== tree && !isAgain)
    return runHooks({ ...commit, tree: after }, ports, emit, true)
  if (result.verdict !== 'passed') return { kind: 'refused', output: result.excerpt || result.reason }
  const said = readPlainFile(join(top, '.git/COMMIT_EDITMSG'), MESSAGE_BYTES)
  // A hook may have made a commit of its own after this one.
  const isOurs = said !== null && new RegExp(`^Task: ${id}$`, 'm').test(said)
  return { kind: 'done', tree: after, message: isOurs ? said : message }
}

/**
 * The hooks in a folder of their own, where no agent could have changed them: those of the tree as the commit in force
 * has them, and what git ignores beside them as the checkout has it, such as husky's `.husky/_`.
 */
async function layOutHooks(home: Home, commit: string, to: string): Promise<string> {
  const { hooks, repository, git } = home
  const inside = hooksInTree(home)
  if (inside === null) return hooks
  const folder = basename(inside).startsWith('_') ? dirname(inside) : inside
  rmSync(to, { recursive: true, force: true })
  mkdirSync(join(to, folder), { recursive: true })
  if (existsSync(join(repository.root, inside)))
    cpSync(join(repository.root, inside), join(to, inside), { recursive: true })
  const entries = await entriesIn(git, ['-r', '--full-tree', commit, '--', `${folder}/`])
  const files = entries.filter(({ mode }) => mode.startsWith('100'))
  const contents = await contentsOf(
    git,
    files.map(({ hash }) => hash),
  )
  for (const { mode, hash, path } of files) {
    mkdirSync(dirname(join(to, path)), { recursive: true })
    writeFileSync(join(to, path), contents.get(hash) ?? '')
    if (mode === '100755') chmodSync(join(to, path), 0o755)
  }
  return join(to, inside)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
