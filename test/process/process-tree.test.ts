import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { newMark, withMark } from '../../src/process/mark.ts'
import { endMarked, livingTree, livingWithMark } from '../../src/process/tree.ts'
import { parsePs } from '../../src/process/table.ts'

/** A shell that has one sleeping child, and has said so. */
async function family(env: Record<string, string>) {
  const shell = spawn('sh', ['-c', 'sleep 60 & echo "$!"; wait'], { env, detached: true })
  const [said] = (await once(shell.stdout, 'data')) as [Buffer]
  return { shell, parent: shell.pid!, child: Number(String(said)) }
}

describe.skipIf(process.platform === 'win32')('the tree of a process', () => {
  test('lists a process and what is below it, with their commands', async () => {
    const { shell, parent, child } = await family(withMark(process.env, newMark()))
    const tree = await livingTree(parent)
    expect(tree).toHaveLength(2)
    expect(tree[1]).toMatchObject({ pid: child, parent, command: expect.stringContaining('sleep 60') })
    process.kill(-parent, 'SIGKILL')
    await once(shell, 'exit')
    expect(await livingTree(parent)).toEqual([])
  })
})

describe.runIf(process.platform === 'linux')('a mark', () => {
  test('finds what a dead run has left, and ends it', async () => {
    const mark = newMark()
    const { shell, parent, child } = await family(withMark(process.env, mark))
    process.kill(parent, 'SIGKILL')
    await once(shell, 'exit')
    expect(await livingWithMark(mark)).toMatchObject([
      { pid: child, command: expect.stringContaining('sleep 60') },
    ])
    expect(await endMarked(mark)).toMatchObject([{ pid: child }])
    expect(await livingWithMark(mark)).toEqual([])
    expect(await endMarked(mark)).toEqual([])
  })

  test('leaves alone what only shares a session with what bears it', async () => {
    const mark = newMark()
    // As git does in a terminal: a shell that is a stranger, something marked, and another stranger.
    const script = `RALPH_RUN=${mark} sleep 60 & sleep 61 & echo $!; wait`
    const shell = spawn('sh', ['-c', script], { detached: true })
    const [said] = (await once(shell.stdout, 'data')) as [Buffer]
    expect(await endMarked(mark)).toMatchObject([{ command: 'sleep 60' }])
    const left = (await livingTree(shell.pid!)).map(({ pid }) => pid)
    expect(left).toEqual([shell.pid, Number(String(said))])
    process.kill(-shell.pid!, 'SIGKILL')
  })

  test('finds what was started under a later mark too, and nothing of another run', async () => {
    const [outer, inner] = [newMark(), newMark()]
    const nested = await family(withMark(withMark(process.env, outer), inner))
    const other = await family(withMark(process.env, newMark()))
    expect((await livingWithMark(outer)).map(({ pid }) => pid)).toEqual([nested.parent, nested.child])
    const gone = once(nested.shell, 'close')
    await endMarked(outer)
    await gone
    expect(await livingTree(other.parent)).toHaveLength(2)
    process.kill(-other.parent, 'SIGKILL')
  })
})

test('a mark is added behind those that stand, and what is undefined is left out', () => {
  expect(withMark({ A: '1', B: undefined }, 'x')).toEqual({ A: '1', RALPH_RUN: 'x' })
  expect(withMark({ RALPH_RUN: 'x' }, 'y')).toEqual({ RALPH_RUN: 'x:y' })
})

test('ps is read without its zombies', () => {
  const text = `    1     0     1 Ss   Mon Nov 16 09:12:01 2026    
  812   700   812 S+   Wed Nov 18 11:00:59 2026
  813   812   812 Z+   Wed Nov 18 11:01:00 2026
`
  expect(parsePs(text)).toEqual([
    { pid: 1, parent: 0, session: 1, startedAt: 'Mon Nov 16 09:12:01 2026' },
    { pid: 812, parent: 700, session: 812, startedAt: 'Wed Nov 18 11:00:59 2026' },
  ])
})
