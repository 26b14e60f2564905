import { join } from 'node:path'
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
  await openEditor(context.io, root, file)
  return context.answer({ id, file }, () => [line(file)])
}

/** Opens a file in the person's editor, until it ends; without one named, in `vi` at a terminal. */
export async function openEditor({ env, stdout }: Pick<Io, 'env' | 'stdout'>, root: string, file: string) {
  const command = namedEditor(env) ?? (stdout.columns === null ? null : 'vi')
  const fix = `Name one: EDITOR="code --wait"; or open ${file} yourself.`
  if (command === null) throw new UserError('no editor is named, and there is no terminal for vi', fix)
  if (!(await edit(join(root, file), { command, cwd: root, env })))
    throw new UserError(`the editor could not be started: ${command}`, fix)
}
