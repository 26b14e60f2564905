import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { taskFolder } from '../../src/project/task-folder.ts'

const top = realpathSync.native(mkdtempSync(join(tmpdir(), 'ralph-folder-')))
afterAll(() => rmSync(top, { recursive: true }))
const root = join(top, 'shop')
mkdirSync(join(root, 'docs/tasks'), { recursive: true })
const ignoresCase = existsSync(join(root, 'DOCS/TASKS'))

describe('the task folder', () => {
  it.runIf(ignoresCase)('is spelled as on disk', () => {
    expect(taskFolder(root, 'Docs/Tasks')).toBe('docs/tasks')
  })

  it.skipIf(ignoresCase)('is another one where its name is spelled in another case', () => {
    expect(taskFolder(root, 'Docs/Tasks')).toBe('Docs/Tasks')
  })

  it.skipIf(process.platform === 'win32')('may be named by a path that a link leads through', () => {
    symlinkSync(root, join(top, 'link'))
    expect(taskFolder(root, join(top, 'link/docs/tasks'))).toBe('docs/tasks')
  })

  it.skipIf(process.platform === 'win32')('keeps its own name where it is a link itself', () => {
    symlinkSync(join(root, 'docs/tasks'), join(root, 'tasks'))
    expect(taskFolder(root, 'tasks')).toBe('tasks')
  })
})
