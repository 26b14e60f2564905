import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ProcessCommand } from '../../src/process/launch.ts'
import { startProcess, type ProcessOptions } from '../../src/process/start.ts'
import { isAlive } from './programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'ralph-process-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Heard {
  stdout: string
  stderr: string
}

/** Starts a process that says when it is ready by what it prints. */
function start(command: ProcessCommand, options: Partial<ProcessOptions> = {}) {
  const heard: Heard = { stdout: '', stderr: '' }
  const waiting: { text: string; resolve: () => void }[] = []
  const running = startProcess(command, {
    cwd: folder,
    env: process.env,
    onOutput: (chunk, stream) => {
      heard[stream] += Buffer.from(chunk).toString('latin1')
      for (const { text, resolve } of waiting) if (heard.stdout.includes(text)) resolve()
    },
    ...options,
  })
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      waiting.push({ text, resolve })
      if (heard.stdout.includes(text)) resolve()
    })
  return { running, heard, says }
}

const sh = (shell: string, options?: Partial<ProcessOptions>) => start({ shell }, options)
const node = (script: string, options?: Partial<ProcessOptions>) =>
  start({ program: process.execPath, args: ['-e', script] }, options)

const pidIn = (text: string) => Number(/pid=(\d+)/.exec(text)?.[1])

/** A node script that puts a sleeping child into a session of its own and prints its pid. */
const leaveSession = (env = 'process.env', stdio = "'ignore'") => `
  const child = require('child_process').spawn('sleep', ['60'], { detached: true, env: ${env}, stdio: ${stdio} })
  child.unref()
  console.log('pid=' + child.pid + '.')
`

describe.skipIf(process.platform === 'win32')('a process', () => {
  test('gives its exit code and both streams', async () => {
    const { running, heard } = sh('echo out; echo err >&2; exit 3')
    expect(await running.finished).toMatchObject({ kind: 'exited', code: 3, signal: null, ended: null })
    expect(heard).toEqual({ stdout: 'out\n', stderr: 'err\n' })
  })

  test('reads all that it is given in one piece, without waiting, and then the end', async () => {
    const stdinFile = join(folder, 'input')
    writeFileSync(stdinFile, 'x'.repeat(1_000_000))
    const { running, heard } = node(`process.stdout.write(String(fs.readFileSync(0).length))`, { stdinFile })
    await running.finished
    expect(Number(heard.stdout)).toBe(1_000_000)
  })

  test('that is given nothing reads the end', async () => {
    const { running, heard } = sh('wc -c')
    await running.finished
    expect(Number(heard.stdout)).toBe(0)
  })

  test('is not started where what it is to read is not there', async () => {
    const { running } = sh('cat', { stdinFile: join(folder, 'nothing') })
    expect(await running.finished).toMatchObject({ kind: 'not-started', missing: false })
  })

  test('that another kills tells the signal', async () => {
    const { running } = sh('kill -9 $$')
    expect(await running.finished).toMatchObject({ code: null, signal: 'SIGKILL', ended: null })
  })

  test.each([
    ['is not there', join(folder, 'nothing'), /nothing was not found$/],
    ['is not executable', import.meta.filename, /is not executable$/],
    ['has NUL in its name', join(folder, 'a\0b'), /could not be started/],
  ])('that %s is a value', async (_, program, reason) => {
    const { running } = start({ program, args: [] })
    expect(running.pid).toBeUndefined()
    expect(await running.finished).toMatchObject({
      kind: 'not-started',
      reason: expect.stringMatching(reason),
    })
    running.end('now')
  })

  test('in a folder that is not there says so', async () => {
    const { running } = start({ program: 'sh', args: [] }, { cwd: join(folder, 'gone') })
    expect(await running.finished).toMatchObject({ reason: expect.stringContaining('does not exist') })
  })

  test('that is interrupted gets TERM and can clean up', async () => {
    const controller = new AbortController()
    const { running, heard, says } = sh(
      `trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.01; done`,
      { signal: controller.signal },
    )
    await says('ready')
    controller.abort('interrupt')
    expect(await running.finished).toMatchObject({ code: 7, ended: 'interrupt', survivors: [] })
    expect(heard.stdout).toContain('cleaned')
  })

  test('that ignores TERM gets KILL', async () => {
    const { running, says } = sh(`trap '' TERM; echo ready; while :; do sleep 0.01; done`, {
      killAfterSeconds: 0.1,
    })
    await says('ready')
    running.end('interrupt')
    expect(await running.finished).toMatchObject({ signal: 'SIGKILL', ended: 'interrupt' })
  })

  test('that is being ended can be ended at once', async () => {
    const controller = new AbortController()
    const killer = new AbortController()
    const { running, says } = sh(`trap 'echo termed' TERM; echo ready; while :; do sleep 0.01; done`, {
      killAfterSeconds: 1000,
      signal: controller.signal,
      killSignal: killer.signal,
    })
    await says('ready')
    controller.abort('interrupt')
    await says('termed')
    killer.abort()
    expect(await running.finished).toMatchObject({ signal: 'SIGKILL', ended: 'interrupt' })
  })

  test('that is started with an aborted signal is ended', async () => {
    const { running } = sh('sleep 60', { signal: AbortSignal.abort('now') })
    expect(await running.finished).toMatchObject({ signal: 'SIGKILL', ended: 'now' })
  })

  test('leaves no child of its group, though that ignores TERM and holds the output', async () => {
    const { running, heard } = sh(`(trap '' TERM; sleep 60 & echo "pid=$!."; wait) & sleep 0.05; exit 0`, {
      killAfterSeconds: 0.1,
    })
    expect(await running.finished).toMatchObject({ code: 0, ended: null, survivors: [] })
    expect(isAlive(pidIn(heard.stdout))).toBe(false)
  })

  // Where no mark can be read, a child whose parent ends before the first look is a stranger.
  test.runIf(process.platform === 'linux')(
    'leaves no child in a session of its own when it ends by itself',
    async () => {
      const { running, heard } = node(leaveSession())
      expect(await running.finished).toMatchObject({ code: 0, survivors: [] })
      expect(isAlive(pidIn(heard.stdout))).toBe(false)
    },
  )

  test('leaves no child in a session of its own that also holds the output and is killed', async () => {
    const { running, heard, says } = node(
      `${leaveSession('process.env', "'inherit'")}; setInterval(() => {}, 1e6)`,
    )
    await says('pid=')
    running.end('now')
    await running.finished
    expect(isAlive(pidIn(heard.stdout))).toBe(false)
  })

  test('leaves no child that has a session and an environment of its own while its parent lives', async () => {
    const { running, heard, says } = node(`${leaveSession('{}')}; setInterval(() => {}, 1e6)`)
    await says('pid=')
    running.end('interrupt')
    await running.finished
    expect(isAlive(pidIn(heard.stdout))).toBe(false)
  })

  test('that forks as fast as it can is ended whole', async () => {
    writeFileSync(join(folder, 'fork.sh'), `trap '' TERM\necho "pid=$$."\nsh ./fork.sh "$1" &\nsleep 0.02\n`)
    const { running, says } = sh('sh ./fork.sh & sleep 60', { killAfterSeconds: 0.1 })
    await says('pid=')
    running.end('now')
    expect(await running.finished).toMatchObject({ survivors: [] })
  })

  test('that is killed is heard to its last word', async () => {
    let text = ''
    const { running } = sh(`echo begin; seq 1 9000; echo last; echo written >&2; sleep 60`, {
      onOutput: (chunk, stream) => {
        if (stream === 'stdout') text += Buffer.from(chunk).toString()
        else running.end('now')
      },
    })
    await running.finished
    expect(text.split('\n')).toHaveLength(9003)
  })

  test('is not listened to for ever where somebody who got away goes on writing', async () => {
    const { running, heard } = node(
      `const child = require('child_process').spawn('yes', { detached: true, env: {}, stdio: ['ignore', 1, 2] })
       console.log('pid=' + child.pid + '.'); process.kill(process.pid, 'SIGKILL')`,
    )
    await running.finished
    spawnSync('kill', ['-9', String(pidIn(heard.stdout))])
  })

  test('is ended, and the error told, where taking its output fails', async () => {
    const { running } = sh('echo x; sleep 60', {
      onOutput: () => {
        throw new Error('disk full')
      },
    })
    await expect(running.finished).rejects.toThrow('disk full')
  })
})
