import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { taskFolder, taskFolders } from '../../src/config/task-folder.ts'
import { makeFolder } from '../repository.ts'

const top = makeFolder()
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

describe('task folders', () => {
  it('are one, or the first and others, each once', async () => {
    const one = await taskFolders(root, { tasks: 'docs/tasks' })
    expect(one).toMatchObject({ names: ['docs/tasks'], first: 'docs/tasks' })
    const tasks = {
      dir: ['docs/tasks', 'docs/done', './docs/tasks/'],
      ignore: ['*-review.md', 'T-9.md'],
      id: null,
    }
    const several = await taskFolders(root, { tasks })
    expect(several).toMatchObject({ names: ['docs/tasks', 'docs/done'], first: 'docs/tasks' })
    const names = ['T-1.md', 'T-1-review.md', 'T-9.md', 'T-99.md']
    expect(names.filter((name) => !several.includes(`docs/done/${name}`))).toEqual([
      'T-1-review.md',
      'T-9.md',
    ])
    expect(await taskFolders(root, { tasks }, 'docs')).toMatchObject({ names: ['docs'] })
  })

  it('lie in the project', async () => {
    await expect(
      taskFolders(root, { tasks: { dir: ['docs/tasks', '../x'], ignore: [], id: null } }),
    ).rejects.toThrow('outside of the project')
  })
})
