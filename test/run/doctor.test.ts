import { spawn, type ChildProcess } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { newMark, withMark } from '../../src/process/mark.ts'
import { livingTree } from '../../src/process/tree.ts'
import { openGit } from '../../src/git/door.ts'
import { openWorkspace } from '../../src/engine/workspace/open.ts'
import { doctorFindings } from '../../src/engine/doctor.ts'
import { taskFilesIn } from '../../src/engine/source.ts'
import { takeLock } from '../../src/engine/lock.ts'
import { makeRunFolder, runFolder } from '../../src/engine/folder.ts'
import { ENV, git, makeFolder, makeRepository, put } from '../git/repository.ts'
import { makeProject, taskText } from './harness.ts'

async function look(root: string): Promise<readonly string[]> {
  return (await findingsOf(root)).map(({ level, area, message }) => `${level} ${area}: ${message}`)
}

function findingsOf(root: string): ReturnType<typeof doctorFindings> {
  const door = openGit({ cwd: root, env: ENV })
  const open = (repository: Parameters<typeof openWorkspace>[1]) => openWorkspace(door, repository, root)
  return doctorFindings({
    git: door,
    root,
    dir: 'docs/tasks',
    isTask: taskFilesIn({ dir: 'docs/tasks' }),
    now: new Date('2026-01-01T01:00:00Z'),
    open,
  })
}

const inFlight = (mark: string, attempt: object | null) =>
  JSON.stringify({ version: 1, mark, startedAt: '', spentUsd: null, attempt })

async function endTree(child: ChildProcess): Promise<void> {
  for (const { pid } of await livingTree(child.pid!)) process.kill(pid, 'SIGKILL')
}

describe('the doctor', () => {
  it('finds nothing wrong where nothing is', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
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

  it('finds what would keep a run from starting', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    git(root, 'checkout', '-q', '--detach')
    git(root, 'bisect', 'start')
    put(root, { mine: '' })
    const found = await look(root)
    expect(found).toContain('problem git: a bisect is under way')
    expect(found).toContain('note git: HEAD is detached: commits will be on no branch')
    expect(found).toContain('problem tree: 1 file is not committed')
  })

  it('says how task files get committed, and that other files are the person’s', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const fixOf = async () => (await findingsOf(root)).find(({ area }) => area === 'tree')?.fix
    put(root, { 'docs/tasks/T-2.md': taskText('T-2') })
    expect(await fixOf()).toBe('Commit it, or have ralph do it: ralph run --commit-tasks')
    put(root, { 'ralph.config.json': '{}' })
    expect(await fixOf()).toContain('ralph run --commit-tasks')
    put(root, { mine: '' })
    expect(await fixOf()).toBe('Commit or stash them')
  })

  it('finds a run at work', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const folder = runFolder(root)
    makeRunFolder(folder)
    const lock = await takeLock(folder.lock, { pid: process.pid, now: new Date('2026-01-01T00:00:00Z') })
    expect((await look(root)).find((line) => line.includes(' lock: '))).toMatch(
      new RegExp(`^note lock: a run is at work: process ${process.pid} on .*, for 1h$`),
    )
    lock.release()
  })

  it.runIf(process.platform === 'linux')('shows the tree of what a run has started', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const folder = runFolder(root)
    makeRunFolder(folder)
    const mark = newMark()
    // A child that holds the lock, as a run does, with an agent that has a tool in a session of its own.
    const agent = 'setsid sleep 999 & echo up; wait'
    const child = spawn('sh', ['-c', `sh -c '${agent}'; :`], { env: ENV, stdio: ['pipe', 'pipe', 'ignore'] })
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve))
      await takeLock(folder.lock, { pid: child.pid!, now: new Date('2026-01-01T00:00:00Z') })
      put(root, { '.ralph/run.json': inFlight(mark, null) })
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
    const root = makeProject({ 'T-1': taskText('T-1') })
    const mark = newMark()
    const child = spawn('sh', ['-c', 'echo up; exec cat'], {
      env: withMark(ENV, mark),
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const attempt = { task: 'T-1', number: 2, startedAt: '2026-01-01T00:00:00Z' }
    put(root, { '.ralph/run.json': inFlight(mark, attempt), half: '' })
    const found = await look(root)
    expect(found).toContain(`note leftovers: running: ${child.pid} cat`)
    expect(found).toContain('note leftovers: a run died during attempt 2 at T-1, begun 1h ago')
    expect(found).toContain('note tree: 1 file is not committed, of an attempt')
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  })
})
