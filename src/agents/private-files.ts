import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePrivateFolder } from '../process/private-folder.ts'
import { FOLDER, type AgentRequest, type Invocation } from './port.ts'
import { removeOrLeave } from '../base/remove.ts'

/** An invocation whose files are written, and how to remove them. */
export type PreparedFiles = ReturnType<typeof writePrivateFiles>

/** The folders that an agent may write to besides the workspace: those of its notes and of its server's signals. */
export function writableOf({ task: { notesFile }, signalFolder }: AgentRequest): readonly string[] {
  return [...(notesFile === '' ? [] : [dirname(notesFile)]), ...(signalFolder ? [signalFolder] : [])]
}

/** Writes an invocation's input and files into a folder that only this user can read, and replaces FOLDER by its path. */
export function writePrivateFiles(invocation: Invocation, home: AgentRequest['env']) {
  const { args, env, files, stdin } = invocation
  if (stdin === '' && Object.keys(files).length === 0) {
    return { args, env, stdinFile: undefined, folder: undefined, remove: () => undefined }
  }
  const folder = makePrivateFolder('agent', home)
  const remove = (): void => removeOrLeave(folder)
  const write = (name: string, content: string): string => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const place = (text: string): string => text.replaceAll(FOLDER, () => folder)
  try {
    for (const [name, content] of Object.entries(files)) write(name, content)
    return {
      args: args.map(place),
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value && place(value)])),
      stdinFile: stdin === '' ? undefined : write('stdin', stdin),
      folder,
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}
