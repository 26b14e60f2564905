import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Control } from '../../src/engine/control.ts'
import { askRun, controlAnswers, openControlDoor, readRequest } from '../../src/engine/control-socket.ts'
import { makeFolder } from '../repository.ts'

/** A door in a folder of its own; `depth` makes its path too long for a socket. */
async function open(depth = 0) {
  const folder = join(makeFolder(), 'deep'.repeat(depth * 10))
  mkdirSync(folder, { recursive: true })
  const runtime = makeFolder()
  const path = { control: join(folder, 'control.sock') }
  const env = { XDG_RUNTIME_DIR: runtime }
  const control = new Control()
  const close = await openControlDoor(
    path,
    env,
    controlAnswers(control, () => ['T-001']),
  )
  onTestFinished(close)
  return { path, env, control, close, ask: askRun.bind(null, path) }
}

describe.skipIf(process.platform === 'win32')('the socket of a run', () => {
  it.each([0, 3])('does what other terminals ask, and says so (depth %d)', async (depth) => {
    const { control, ask } = await open(depth)
    expect(await ask({ do: 'resume' })).toEqual({ ok: false, text: 'the run is not paused' })
    expect(await ask({ do: 'pause' })).toMatchObject({ ok: true })
    expect(control.isPaused).toBe(true)
    expect(await ask({ do: 'resume' })).toEqual({ ok: true, text: 'the run continues' })
    expect(await ask({ do: 'answer', task: 'T-001', text: 'MIT' })).toEqual({
      ok: false,
      text: 'nobody asks about T-001',
    })
    const answer = control.answerTo('T-001', new AbortController().signal)
    expect(await ask({ do: 'answer', task: 'T-001', text: 'MIT' })).toMatchObject({ ok: true })
    expect(await answer).toBe('MIT')
    expect(await ask({ do: 'retry', task: 'T-001' })).toMatchObject({ ok: false })
    const again = control.answerTo('T-001', new AbortController().signal)
    expect(await ask({ do: 'retry', task: 'T-001' })).toEqual({ ok: true, text: 'T-001 is tried again' })
    expect(await again).toBe('retry')
    expect(await ask({ do: 'skip', task: 'T-009' })).toMatchObject({ ok: false })
    expect(await ask({ do: 'take-over', task: 'T-001' })).toEqual({
      ok: false,
      text: 'T-001 is taken over in the terminal of its run: press i there',
    })
    expect(await ask({ do: 'skip', task: 'T-001' })).toMatchObject({ ok: true })
    expect(control.skipped('T-001').aborted).toBe(true)
    const stops: (string | undefined)[] = []
    control.listen((event) => void (event.type === 'stopping' && stops.push(event.how)))
    await ask({ do: 'stop', now: false })
    expect([control.isStopping, control.signal.aborted]).toEqual([true, false])
    await ask({ do: 'stop', now: true })
    expect([control.signal.aborted, control.killSignal.aborted]).toEqual([true, false])
    await ask({ do: 'stop', now: true })
    expect(control.killSignal.aborted).toBe(true)
    control.stop('after-attempt')
    // Each that asks for more than before.
    expect(stops).toEqual(['after-attempt', 'clean', 'now'])
  })

  it('is for this user alone', async () => {
    const { path } = await open()
    expect(statSync(path.control).mode & 0o777).toBe(0o600)
  })

  it('stands in a private folder where its path would be too long', async () => {
    const { path, env } = await open(3)
    const address = readFileSync(path.control, 'utf8')
    expect(address.startsWith(env.XDG_RUNTIME_DIR)).toBe(true)
    expect(statSync(dirname(address)).mode & 0o777).toBe(0o700)
    rmSync(dirname(address), { recursive: true })
    expect(await askRun(path, { do: 'pause' })).toBeNull()
  })

  it('leads into no folder that others can write to', async () => {
    const shared = makeFolder()
    mkdirSync(join(shared, 'open'), { mode: 0o777 })
    const address = join(shared, 'open', 'x.sock')
    const server = createServer().listen(address)
    onTestFinished(() => void server.close())
    const path = { control: join(shared, 'control.sock') }
    writeFileSync(path.control, address)
    expect(await askRun(path, { do: 'pause' })).toBeNull()
  })

  it('is gone with the run, and nobody is there where a run has died', async () => {
    const { path, env, close, ask } = await open()
    close()
    expect(existsSync(path.control)).toBe(false)
    expect(await ask({ do: 'pause' })).toBeNull()
    // A killed run leaves its socket, which the next one takes over.
    const server = createServer().listen(path.control)
    await new Promise((resolve) => server.once('listening', resolve))
    const again = await openControlDoor(
      path,
      env,
      controlAnswers(new Control(), () => []),
    )
    onTestFinished(() => void [again(), server.close()])
    expect(await ask({ do: 'pause' })).toMatchObject({ ok: true })
  })

  it('survives whoever says nonsense, too much or nothing', async () => {
    const { path, ask } = await open()
    const say = (text: string) =>
      new Promise<string>((resolve) => {
        let said = ''
        const socket = createConnection(path.control, () => socket.end(text))
        socket.on('data', (chunk) => (said += String(chunk)))
        socket.on('error', () => resolve(said))
        socket.on('close', () => resolve(said))
      })
    expect(await say('nonsense\n')).toContain('does not know')
    expect(await say('{"do":"run"}\n')).toContain('does not know')
    expect(await say('x'.repeat(1_000_000))).toBe('')
    expect(await say('')).toBe('')
    expect(await ask({ do: 'pause' })).toMatchObject({ ok: true })
  })

  it('reads any line as a request or as none', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (line) => {
        const request = readRequest(line)
        expect(
          request === null ||
            ['pause', 'resume', 'stop', 'skip', 'retry', 'take-over', 'answer'].includes(request.do),
        ).toBe(true)
      }),
    )
  })
})
