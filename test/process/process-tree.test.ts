import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { thisMachine, parseCim, parsePs, startOf } from '../../src/process/table.ts'
import { newMark, withMark } from '../../src/process/mark.ts'
import { endLeftovers, livingOf, livingTree } from '../../src/process/tree.ts'
import { remainsOf, StartedProcesses, type StartedProcess } from '../../src/process/started.ts'
import { startProcess } from '../../src/process/start.ts'

/** A shell that has one sleeping child, and has said so. */
async function family(env: Record<string, string>) {
  const shell = spawn('sh', ['-c', 'sleep 60 & echo "$!"; wait'], { env, detached: true })
  const [said] = (await once(shell.stdout, 'data')) as [Buffer]
  return { shell, parent: shell.pid!, child: Number(String(said)) }
}

/** All that is known of a run by its mark alone. */
const markOf = (mark: string) => ({ mark, processes: [] })

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

describe.skipIf(process.platform === 'win32')('what a run has noted', () => {
  test('is found and ended where no mark shows it, also once the leader of the group is dead', async () => {
    const { boot } = await thisMachine()
    // What they bear is another mark than the one that is asked for, as where the system shows none.
    const { shell, parent, child } = await family({ PATH: process.env['PATH']! })
    const processes = [{ pid: parent, group: parent, startedAt: (await startOf(parent))!, boot }]
    process.kill(parent, 'SIGKILL')
    await once(shell, 'exit')
    expect(await livingOf({ mark: newMark(), processes })).toMatchObject([{ pid: child }])
    expect(await endLeftovers({ mark: newMark(), processes })).toEqual([expect.stringContaining('sleep 60')])
    expect(await livingOf({ mark: newMark(), processes })).toEqual([])
  })

  test('is left alone where its number is a stranger’s by now', async () => {
    const { boot } = await thisMachine()
    const { parent } = await family({ PATH: process.env['PATH']! })
    const processes = [{ pid: parent, group: parent, startedAt: 'another time', boot }]
    expect(await livingOf({ mark: newMark(), processes })).toEqual([])
    process.kill(-parent, 'SIGKILL')
  })

  test('is what was started and has not ended, each with its start', async () => {
    const started = new StartedProcesses(() => 0)
    const start = started.following(startProcess)
    const heard: (readonly StartedProcess[])[] = []
    const forget = started.listen((living) => heard.push(living))
    const options = { cwd: '.', env: process.env, onOutput: () => undefined }
    await start({ shell: 'true' }, options).finished
    const running = start({ shell: 'exec sleep 60' }, options)
    const pid = running.pid!
    const [startedAt, { boot }] = [await startOf(pid), await thisMachine()]
    await vi.waitFor(() => expect(heard.at(-1)).toEqual([{ pid, group: pid, startedAt, boot }]))
    forget()
    running.end('now')
    await running.finished
  })
})

describe.runIf(process.platform === 'linux')('a mark', () => {
  test('finds what a dead run has left, and ends it', async () => {
    const mark = newMark()
    const { shell, parent, child } = await family(withMark(process.env, mark))
    process.kill(parent, 'SIGKILL')
    await once(shell, 'exit')
    expect(await livingOf(markOf(mark))).toMatchObject([
      { pid: child, command: expect.stringContaining('sleep 60') },
    ])
    expect(await endLeftovers(markOf(mark))).toEqual([expect.stringContaining('sleep 60')])
    expect(await livingOf(markOf(mark))).toEqual([])
    expect(await endLeftovers(markOf(mark))).toEqual([])
  })

  test('leaves alone what only shares a session with what bears it', async () => {
    const mark = newMark()
    // As git does in a terminal: a shell that is a stranger, something marked, and another stranger.
    const script = `RALPH_RUN=${mark} sleep 60 & sleep 61 & echo $!; wait`
    const shell = spawn('sh', ['-c', script], { detached: true })
    const [said] = (await once(shell.stdout, 'data')) as [Buffer]
    // Until it is a program of its own, what is to bear the mark is a copy of its shell.
    await vi.waitFor(async () => expect(await livingOf(markOf(mark))).toHaveLength(1))
    expect(await endLeftovers(markOf(mark))).toEqual(['sleep 60'])
    const left = (await livingTree(shell.pid!)).map(({ pid }) => pid)
    expect(left).toEqual([shell.pid, Number(String(said))])
    process.kill(-shell.pid!, 'SIGKILL')
  })

  test('finds what was started under a later mark too, and nothing of another run', async () => {
    const [outer, inner] = [newMark(), newMark()]
    const nested = await family(withMark(withMark(process.env, outer), inner))
    const other = await family(withMark(process.env, newMark()))
    expect((await livingOf(markOf(outer))).map(({ pid }) => pid)).toEqual([nested.parent, nested.child])
    const gone = once(nested.shell, 'close')
    await endLeftovers(markOf(outer))
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

test('what Windows answers is read, whatever stands around it', () => {
  const text = '812 700 1795000000123\r\n\r\n813 812 1795000000456\r\nGet-CimInstance : Access denied\r\n'
  expect(parseCim(text)).toEqual([
    { pid: 812, parent: 700, session: 812, startedAt: '1795000000123' },
    { pid: 813, parent: 812, session: 813, startedAt: '1795000000456' },
  ])
})

describe('of a noted process', () => {
  const monday = 'Mon Nov 16 09:12:01 2026'
  const tuesday = 'Tue Nov 17 09:12:01 2026'
  const noted = { pid: 10, group: 10, startedAt: tuesday, boot: 'a' }
  const entry = (pid: number, session: number, startedAt: string) => ({ pid, parent: 1, session, startedAt })

  test.each([
    ['itself and its group', [entry(10, 10, tuesday), entry(11, 10, tuesday)], [10], [10]],
    ['its group', [entry(11, 10, tuesday)], [10], [10]],
    ['nothing, where another has its number', [entry(10, 10, monday), entry(11, 10, tuesday)], [], []],
    ['no group that began before it', [entry(11, 10, monday)], [10], []],
  ])('there is still %s', (_, table, members, groups) => {
    const remains = remainsOf([noted], { table, boot: 'a' })
    expect([[...remains.members.keys()], [...remains.groups]]).toEqual([members, groups])
  })

  test('whose start nobody knows there is nothing that is certain', () => {
    const remains = remainsOf([{ ...noted, startedAt: '' }], { table: [entry(10, 10, tuesday)], boot: 'a' })
    expect([remains.members.size, remains.groups.size]).toEqual([0, 0])
  })

  test.each([
    ['Tue Nov 17 09:12:01 2026', [10]],
    ['Tue Nov 17 09:12:09 2026', []],
    ['4711', []],
  ])('what was noted before its start was known is found by when that was: %s', (startedAt, found) => {
    const early = { ...noted, startedAt: '', boot: '', notedAt: Date.parse('Tue Nov 17 09:12:02 2026') }
    const remains = remainsOf([early], { table: [entry(10, 10, startedAt)], boot: 'a' })
    expect([[...remains.members.keys()], [...remains.groups]]).toEqual([found, found])
  })

  test('there is nothing after a start of the system', () => {
    const remains = remainsOf([noted], { table: [entry(10, 10, tuesday)], boot: 'b' })
    expect([remains.members.size, remains.groups.size]).toEqual([0, 0])
  })

  test('on Windows, which knows no groups, there is the process and whatever names it as its parent', () => {
    const remains = remainsOf([{ pid: 10, group: null, startedAt: '5', boot: 'a' }], {
      table: [entry(12, 12, '6')],
      boot: 'a',
    })
    expect([[...remains.members], [...remains.groups]]).toEqual([[[10, '5']], []])
  })
})
