import { dirname, join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { readNamed } from '../../config/find-task.ts'
import { edit, namedEditor } from '../../process/pager.ts'
import { line } from '../../screen/block.ts'
import type { Context } from '../command.ts'
import type { Io } from '../io.ts'

/** Opens the file of a task in the person's editor. */
export async function run(context: Context): Promise<number> {
  const { root, ...place } = await context.place()
  const { id, file } = await readNamed({ root, ...place }, context.args[0]!)
  await openEditor(context.io, editorOf(context.io), join(root, file))
  return context.answer({ id, file }, () => [line(file)])
}

/** The person's editor: `vi` at a terminal where none is named. Throws where there is none. */
export function editorOf({ env, stdout }: Pick<Io, 'env' | 'stdout'>): string {
  const command = namedEditor(env) ?? (stdout.columns === null ? null : 'vi')
  if (command !== null) return command
  throw new UserError('no editor is named, and there is no terminal for vi', FIX)
}

const FIX = 'Name one: EDITOR="code --wait"; or open the file yourself.'

/** Opens a file in an editor, until that ends. */
export async function openEditor({ env }: Pick<Io, 'env'>, command: string, path: string): Promise<void> {
  if (!(await edit(path, { command, cwd: dirname(path), env })))
    throw new UserError(`the editor could not be started: ${command}`, FIX)
}
