import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openGit } from '../../src/git/door.ts'
import { openSealer } from '../../src/git/seal/sealer.ts'
import { verifyTasks } from '../../src/history/verify.ts'
import { readFacts } from '../../src/backlog/read.ts'
import { taskFoldersOf } from '../../src/backlog/task-folders.ts'
import { TASK_VOCABULARY } from '../../src/backlog/vocabulary.ts'
import { ENV, git, makeFolder, put } from '../repository.ts'
import { makeProject, read, taskText } from '../run/harness.ts'

const doorOf = (root: string) => openGit({ cwd: root, env: ENV })

/** A project of these tasks, none of them done. */
function project(...ids: readonly string[]): string {
  return makeProject(Object.fromEntries(ids.map((id) => [id, taskText(id)])))
}

function writeDone(root: string, id: string, commit: string | null, file = `docs/tasks/${id}.md`): void {
  const field = commit === null ? '' : `\n- **Commit**: ${commit}`
  const text = read(root, file)?.replace('- **Status**: TODO', `- **Status**: DONE${field}`) ?? ''
  put(root, { [file]: text, [`src/${id}.ts`]: `export const id = '${id}'\n` })
}

function commitAll(root: string, message: string): string {
  git(root, 'add', '--all')
  git(root, 'commit', '-q', '--cleanup=verbatim', '-m', message)
  return git(root, 'rev-parse', 'HEAD')
}

/** Completes a task as a run does, and seals the commit. */
async function complete(root: string, id: string): Promise<string> {
  const ports = { signal: new AbortController().signal, now: () => 0 }
  const sealer = openSealer(doorOf(root), 4, ports)
  const prefix = await sealer.prefix(id)
  writeDone(root, id, prefix)
  const commit = commitAll(
    root,
    `${id}: Do it\n\nNotes on ${id}.\n\nTask: ${id}\nTier: Light\nAttempts: 1\nSeal: ${prefix}\n`,
  )
  const sealed = (await sealer.sealed(commit, () => undefined))!
  git(root, 'update-ref', 'HEAD', sealed)
  return sealed
}

async function verification(root: string) {
  const readTasks = async () => (await readFacts({ root }, { facts: ['commit'] })).tasks
  return verifyTasks(doorOf(root), { readTasks, vocabulary: TASK_VOCABULARY })
}

async function states(root: string): Promise<readonly string[]> {
  return (await verification(root)).tasks.map(({ id, state }) => `${id} ${state}`)
}

/** What each task's commit was found to be, by its subject. */
async function subjects(root: string): Promise<readonly (string | null)[]> {
  const { tasks } = await verification(root)
  return tasks.map(({ found }) => found && git(root, 'log', '-1', '--format=%s', found))
}

describe('a history that others have worked on', () => {
  it('keeps what a merge brings in', async () => {
    const root = project('T-001', 'T-002')
    git(root, 'checkout', '-q', '-b', 'feature')
    await complete(root, 'T-001')
    git(root, 'checkout', '-q', 'main')
    await complete(root, 'T-002')
    git(root, 'merge', '-q', '--no-ff', '--no-edit', 'feature')
    expect(await states(root)).toEqual(['T-001 sealed', 'T-002 sealed'])
  })

  it('names other commits after a rebase, and after a cherry-pick', async () => {
    const root = project('T-001', 'T-002')
    git(root, 'checkout', '-q', '-b', 'feature')
    const first = await complete(root, 'T-001')
    await complete(root, 'T-002')
    git(root, 'checkout', '-q', 'main')
    put(root, { 'other.txt': 'other\n' })
    commitAll(root, 'Something else')
    git(root, 'checkout', '-q', '-b', 'picked')
    git(root, 'cherry-pick', '-x', first)
    expect(await states(root)).toEqual(['T-001 moved'])
    git(root, 'checkout', '-q', 'feature')
    git(root, 'rebase', '-q', 'main')
    expect(await states(root)).toEqual(['T-001 moved', 'T-002 moved'])
    expect(await subjects(root)).toEqual(['T-001: Do it', 'T-002: Do it'])
  })

  it('is missing a commit where a squash has dropped its words, but knows which turned the file DONE', async () => {
    const root = project('T-001')
    git(root, 'checkout', '-q', '-b', 'feature')
    await complete(root, 'T-001')
    git(root, 'checkout', '-q', 'main')
    git(root, 'merge', '-q', '--squash', 'feature')
    commitAll(root, 'Add it all (#7)')
    expect(await states(root)).toEqual(['T-001 missing'])
    expect(await subjects(root)).toEqual(['Add it all (#7)'])
  })

  it('is cut off in a shallow clone', async () => {
    const root = project('T-001', 'T-002', 'T-003')
    writeDone(root, 'T-003', null)
    commitAll(root, 'By hand')
    await complete(root, 'T-001')
    await complete(root, 'T-002')
    const clone = makeFolder()
    git(clone, 'clone', '-q', '--depth=1', `file://${root}`, '.')
    const { tasks, isCutOff } = await verification(clone)
    expect(tasks.map(({ state, found }) => [state, found !== null])).toEqual([
      ['missing', false],
      ['sealed', true],
      ['missing', false],
    ])
    expect(isCutOff).toBe(true)
    expect((await verification(root)).isCutOff).toBe(false)
  })

  it('tells a second completion from the first, that was reverted', async () => {
    const root = project('T-001')
    await complete(root, 'T-001')
    git(root, 'revert', '--no-edit', 'HEAD')
    expect(await states(root)).toEqual([])
    const second = await complete(root, 'T-001')
    expect((await verification(root)).tasks).toMatchObject([{ state: 'sealed', found: second }])
    git(root, 'commit', '-q', '--amend', '--no-edit', '--date=2020-01-01T00:00:00')
    const amended = git(root, 'rev-parse', 'HEAD')
    expect((await verification(root)).tasks).toMatchObject([{ state: 'moved', found: amended }])
  })

  it('tells of a task whose work was reverted while its file stays DONE, and whose was brought back', async () => {
    const root = project('T-001', 'T-002')
    const [first, second] = [await complete(root, 'T-001'), await complete(root, 'T-002')]
    const told = async () =>
      (await verification(root)).tasks.map(({ state, found, reverted }) => [state, found, reverted])
    git(root, 'revert', '--no-commit', first)
    git(root, 'checkout', 'HEAD', '--', 'docs')
    git(root, 'commit', '-q', '-m', `Revert "T-001: Do it"\n\nThis reverts commit ${first}.`)
    expect(await told()).toEqual([
      ['sealed', first, true],
      ['sealed', second, false],
    ])
    git(root, 'revert', '--no-edit', 'HEAD')
    expect(await told()).toEqual([
      ['sealed', first, false],
      ['sealed', second, false],
    ])
    git(root, 'revert', '--no-edit', first)
    git(root, 'cherry-pick', first)
    const again = git(root, 'rev-parse', 'HEAD')
    expect(await told()).toEqual([
      ['moved', again, false],
      ['sealed', second, false],
    ])
    git(root, 'revert', '--no-edit', again)
    git(root, 'checkout', first, '--', 'docs/tasks/T-001.md', 'src/T-001.ts')
    const byHand = commitAll(root, 'Do it once more')
    expect(await told()).toEqual([
      ['moved', byHand, false],
      ['sealed', second, false],
    ])
  })

  it('still names the commit of a task file that was renamed, or moved with its folder', async () => {
    const root = project('T-001', 'T-002')
    const first = await complete(root, 'T-001')
    await complete(root, 'T-002')
    git(root, 'mv', 'docs/tasks/T-001.md', 'docs/tasks/T-001-add-it.md')
    commitAll(root, 'Say what it is')
    expect(await states(root)).toEqual(['T-001 sealed', 'T-002 sealed'])
    expect((await verification(root)).tasks[0]?.found).toBe(first)
    renameSync(join(root, 'docs/tasks'), join(root, 'backlog'))
    commitAll(root, 'Move the backlog')
    const { tasks } = await verifyTasks(doorOf(root), {
      readTasks: async () =>
        (await readFacts({ root, folders: taskFoldersOf(['backlog']) }, { facts: ['commit'] })).tasks,
      vocabulary: TASK_VOCABULARY,
    })
    expect(tasks.map(({ state }) => state)).toEqual(['sealed', 'sealed'])
  })

  it('is not led astray by commits that mention a task, or have its trailer and did not complete it', async () => {
    const root = project('T-001')
    put(root, { a: '1' })
    commitAll(root, 'Prepare T-001\n\nTask: T-001\n')
    await complete(root, 'T-001')
    put(root, { a: '2' })
    commitAll(root, 'Mend what T-001 broke\n\nTask: T-001\n')
    put(root, { a: '3' })
    commitAll(root, 'Speak of it\n\nIt said:\n\n    Task: T-001\n\nand no more.\n')
    expect(await states(root)).toEqual(['T-001 sealed'])
    git(root, '-c', 'user.name=Bea', 'rebase', '-q', '--force-rebase', '--root')
    expect(await states(root)).toEqual(['T-001 moved'])
    expect(await subjects(root)).toEqual(['T-001: Do it'])
  })

  it('finds by the file alone who did a task before there was ralph', async () => {
    const root = project('T-001', 'T-002', 'T-003')
    writeDone(root, 'T-001', null)
    commitAll(root, 'Add it by hand')
    put(root, {
      'docs/tasks/T-004.md': taskText('T-004').replace('TODO', 'DONE'),
      'docs/tasks/T-001.md': `${read(root, 'docs/tasks/T-001.md')}\nA word more.\n`,
    })
    commitAll(root, 'Write down what was done long ago')
    git(root, 'mv', 'docs/tasks/T-001.md', 'docs/tasks/T-001-by-hand.md')
    commitAll(root, 'Rename')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'Speak of it', '-m', 'Task: T-001')
    writeDone(root, 'T-003', null)
    expect(await states(root)).toEqual(['T-001 matches', 'T-003 missing', 'T-004 matches'])
    expect(await subjects(root)).toEqual(['Add it by hand', null, 'Write down what was done long ago'])
  })

  it('misses a commit that is not part of it, though the repository still has it', async () => {
    const root = project('T-001')
    const gone = await complete(root, 'T-001')
    git(root, 'reset', '-q', '--hard', 'HEAD~1')
    writeDone(root, 'T-001', gone.slice(0, 7))
    commitAll(root, 'Take it over')
    expect(await states(root)).toEqual(['T-001 missing'])
  })

  it("leaves a commit that is the task's to the person who named it, though another turned the file DONE", async () => {
    const root = project('T-001', 'T-002', 'T-003')
    put(root, { a: '1' })
    const bySubject = commitAll(root, 'feat: t-1 adds the form')
    const file = 'docs/tasks/T-002.md'
    put(root, { [file]: `${read(root, file)}\nMore.\n` })
    const byFile = commitAll(root, 'Work')
    put(root, { a: '2' })
    const other = commitAll(root, 'Something else, for T-10')
    writeDone(root, 'T-001', bySubject.slice(0, 7))
    writeDone(root, 'T-002', byFile.slice(0, 7))
    writeDone(root, 'T-003', other.slice(0, 7))
    const head = commitAll(root, 'Close them')
    const { tasks } = await verification(root)
    expect(tasks.map(({ id, state, found }) => [id, state, found])).toEqual([
      ['T-001', 'not-completing', head],
      ['T-002', 'not-completing', head],
      ['T-003', 'not-completing', head],
    ])
  })

  it('holds the tasks of a package apart from those of its neighbours', async () => {
    const top = project('T-001')
    const inner = join(top, 'packages/shop')
    put(inner, { 'docs/tasks/T-001.md': taskText('T-001') })
    commitAll(top, 'Add a package')
    writeDone(inner, 'T-001', 'abcdef1')
    commitAll(top, 'T-001: Inner\n\nTask: T-001\n')
    writeDone(top, 'T-001', 'abcdef1')
    commitAll(top, 'T-001: Outer\n\nTask: T-001\n')
    expect(await subjects(inner)).toEqual(['T-001: Inner'])
    expect(await subjects(top)).toEqual(['T-001: Outer'])
  })

  it('takes a handful of git processes, whatever is found', async () => {
    const root = project('T-001', 'T-002', 'T-003')
    await complete(root, 'T-001')
    git(root, 'commit', '-q', '--amend', '--no-edit', '--date=2020-01-01T00:00:00')
    writeDone(root, 'T-002', null)
    commitAll(root, 'By hand')
    const asked: (string | undefined)[] = []
    const door = doorOf(root)
    const counting = {
      ...door,
      run: (...call: Parameters<typeof door.run>) => (asked.push(call[0][0]), door.run(...call)),
    }
    const readTasks = async () => (await readFacts({ root }, { facts: ['commit'] })).tasks
    await verifyTasks(counting, { readTasks, vocabulary: TASK_VOCABULARY })
    expect(asked.length).toBeLessThan(8)
  })
})
