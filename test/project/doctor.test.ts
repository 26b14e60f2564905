import { spawn, type ChildProcess } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { newMark, withMark } from '../../src/process/mark.ts'
import { livingTree } from '../../src/process/tree.ts'
import { taskFoldersOf } from '../../src/backlog/task-folders.ts'
import { openGit } from '../../src/git/door.ts'
import { checkCheckout, type Say } from '../../src/cli/commands/doctor.ts'
import { takeLock } from '../../src/process/lock.ts'
import { makeRunFolder, runFolder } from '../../src/engine/folder.ts'
import { ENV, git, makeFolder, makeRepository, put } from '../repository.ts'
import { makeProject } from '../run/harness.ts'

async function look(root: string): Promise<readonly string[]> {
  return (await findingsOf(root)).map(([area, level, message]) => `${level} ${area}: ${message}`)
}

async function findingsOf(root: string) {
  const found: Parameters<Say>[] = []
  const place = { root, folders: taskFoldersOf(['docs/tasks']) }
  const git = openGit({ cwd: root, env: ENV })
  await checkCheckout((...finding) => found.push(finding), {
    git,
    place,
    now: new Date('2026-01-01T01:00:00Z'),
  })
  return found
}

const inFlight = (mark: string, ...attempts: readonly object[]) => {
  const jobs = attempts.map((attempt, index) => ({ workspace: index + 1, attempt }))
  return JSON.stringify({ version: 3, mark, processes: [], startedAt: '', spentUsd: null, jobs, move: null })
}

async function endTree(child: ChildProcess): Promise<void> {
  for (const { pid } of await livingTree(child.pid!)) process.kill(pid, 'SIGKILL')
}

describe('the doctor', () => {
  it('finds nothing wrong where nothing is', async () => {
    const root = makeProject()
    const found = await look(root)
    expect(found[0]).toMatch(/^ok git: git \d/)
    expect(found.slice(1)).toEqual([
      `ok git: the repository at ${root}`,
      'ok tree: everything is committed',
      'ok lock: no run is at work',
      'ok leftovers: nothing is left of an earlier run',
    ])
  })

  it('finds no repository, and no commit', async () => {
    expect((await look(makeFolder())).slice(1)).toEqual(['problem git: there is no git repository here'])
    expect(await look(makeRepository({}))).toContain('problem git: there is no commit yet')
  })

  it('finds what would keep a run from starting, with what helps', async () => {
    const root = makeProject(1, { '.gitignore': '.ralph/\ndocs/\n' })
    git(root, 'config', 'user.useConfigOnly', 'true')
    git(root, 'config', '--unset', 'user.email')
    const found = (await findingsOf(root)).filter(([, level]) => level === 'problem')
    expect(found.map(([, , message]) => message)).toEqual([
      expect.stringContaining('git does not know who commits'),
      'git ignores the task folder docs/tasks, so no commit could hold a task',
    ])
    for (const [, , , fix] of found) expect(fix).not.toBe('')
  })

  it('only notes what a person has there: no run touches that', async () => {
    const root = makeProject()
    git(root, 'checkout', '-q', '--detach')
    git(root, 'bisect', 'start')
    put(root, { mine: '' })
    const found = await look(root)
    expect(found.filter((line) => line.startsWith('problem'))).toEqual([])
    expect(found).toContain('note git: HEAD is detached: commits will be on no branch')
    expect(found).toContainEqual(
      expect.stringMatching(/^note tree: 1 file is not committed: a run works on what is/),
    )
  })

  it('finds a run at work', async () => {
    const root = makeProject()
    const folder = runFolder(root)
    makeRunFolder(folder)
    const lock = await takeLock(folder.lock, { pid: process.pid, now: new Date('2026-01-01T00:00:00Z') })
    expect((await look(root)).find((line) => line.includes(' lock: '))).toMatch(
      new RegExp(`^note lock: a run is at work: process ${process.pid} on .*, for 1h$`),
    )
    lock.release()
  })

  it.runIf(process.platform === 'linux')('shows the tree of what a run has started', async () => {
    const root = makeProject()
    const folder = runFolder(root)
    makeRunFolder(folder)
    const mark = newMark()
    // A child that holds the lock, as a run does, with an agent that has a tool in a session of its own.
    const agent = 'setsid sleep 999 & echo up; wait'
    const child = spawn('sh', ['-c', `sh -c '${agent}'; :`], { env: ENV, stdio: ['pipe', 'pipe', 'ignore'] })
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve))
      await takeLock(folder.lock, { pid: child.pid!, now: new Date('2026-01-01T00:00:00Z') })
      put(root, { '.ralph/run.json': inFlight(mark) })
      const found = (await look(root)).filter((line) => line.includes(' processes: '))
      expect(found).toEqual([
        expect.stringMatching(/^note processes: \d+ sh -c setsid sleep/),
        expect.stringMatching(/^note processes: └─ \d+ (?:setsid )?sleep 999$/),
      ])
    } finally {
      await endTree(child)
    }
  })

  it.runIf(process.platform === 'linux')('finds what a dead run has left', async () => {
    const root = makeProject()
    const mark = newMark()
    const child = spawn('sh', ['-c', 'echo up; exec cat'], {
      env: withMark(ENV, mark),
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const [one, other] = [2, 1].map((number) => ({
      task: `T-${number}`,
      number,
      startedAt: '2026-01-01T00:00:00Z',
    }))
    put(root, { '.ralph/run.json': inFlight(mark, one!, other!) })
    const found = await look(root)
    expect(found).toContain(`note leftovers: running: ${child.pid} cat`)
    expect(found).toContain('note leftovers: a run died during attempt 2 at T-2, begun 1h ago')
    expect(found).toContain('note leftovers: a run died during attempt 1 at T-1, begun 1h ago')
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  })
})
