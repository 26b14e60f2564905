import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { reportError } from '../../src/cli/main.ts'
import manifest from '../../package.json' with { type: 'json' }
import { env, git, PROGRAM, projectFolder, taskText } from '../repository.ts'
import { barrier, repository } from './script-repository.ts'
import { ralph } from './ralph.ts'

describe('the program', () => {
  it('says its version', () => {
    expect(execFileSync(process.execPath, [PROGRAM, '--version'], { encoding: 'utf8' })).toBe(
      `${manifest.version}\n`,
    )
  })

  it('shows what it can where nothing is asked', async () => {
    const { code, stdout } = await ralph([], { cwd: '/' })
    expect([code, stdout]).toEqual([0, (await ralph(['--help'], { cwd: '/' })).stdout])
  })

  it('ends with the exit code of its answer', () => {
    const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Waits', { Depends: 'T-002' }) })
    expect(spawnSync(process.execPath, [PROGRAM, 'next'], { cwd }).status).toBe(1)
    expect(spawnSync(process.execPath, [PROGRAM, 'nxt'], { cwd }).status).toBe(2)
  })

  it('ends after a run that left uncommitted tasks out, and could ask nobody', () => {
    const cwd = repository({ 'T-001': 'echo 1 > 1.txt' })
    writeFileSync(join(cwd, 'docs/tasks/T-002.md'), taskText('T-002', 'Later'))
    const argv = [PROGRAM, 'run', 'T-002', '--agent', 'script', '--baseline', 'off']
    const { status, stdout } = spawnSync(process.execPath, argv, {
      cwd,
      env,
      encoding: 'utf8',
      timeout: 20_000,
      killSignal: 'SIGKILL',
    })
    expect([status, stdout]).toEqual([expect.any(Number), expect.stringContaining('There is no task T-002')])
  })

  it.skipIf(process.platform === 'win32')('says so where the folder that it was started in is gone', () => {
    const script = `mkdir gone && cd gone && rmdir ../gone && exec "${process.execPath}" "${PROGRAM}" next`
    const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: projectFolder({}), encoding: 'utf8' })
    expect([status, stderr.split('\n')[0]]).toEqual([
      2,
      'error: the folder that ralph was started in is gone',
    ])
  })

  it.skipIf(process.platform === 'win32')('is quiet where its reader has seen enough', () => {
    const files = Array.from({ length: 300 }, (_, index) => {
      const id = `T-${index + 1}`
      return [`docs/tasks/${id}.md`, taskText(id, 'x'.repeat(500))]
    })
    const cwd = projectFolder(Object.fromEntries(files))
    const pipe = `"${process.execPath}" "${PROGRAM}" list | head -n 1`
    const { stdout, stderr } = spawnSync('sh', ['-c', pipe], { cwd, encoding: 'utf8' })
    expect([stdout.split('\n').length, stderr]).toEqual([2, ''])
  })

  it.skipIf(!existsSync('/dev/full'))('says in one line that what it says has no room', () => {
    const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Waits', { Depends: 'T-002' }) })
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const toFull = (args: readonly string[], stderr: 'pipe' | number) => {
      return spawnSync(process.execPath, [PROGRAM, ...args], {
        cwd,
        encoding: 'utf8',
        stdio: ['ignore', full, stderr],
      })
    }
    for (const args of [['list'], ['next', '--json'], ['--version'], ['--help']]) {
      const { status, stderr } = toFull(args, 'pipe')
      expect([status, stderr.split('\n')[0]]).toEqual([2, 'error: cannot write output (ENOSPC)'])
      expect(stderr).not.toContain('    at ')
    }
    expect(toFull(['list'], full).status).toBe(2)
  })

  it.skipIf(process.platform === 'win32')(
    'ends a run in order where nobody hears of it any more',
    async () => {
      const cwd = repository({ 'T-001': 'while echo tick; do sleep 0.05; done' })
      const args = [PROGRAM, 'run', '--agent', 'script']
      const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
      child.stdout.on('data', (chunk) => String(chunk).includes('tick') && child.stdout.destroy())
      const [code] = await once(child, 'exit')
      expect(code).toBe(130)
      expect(git(cwd, 'for-each-ref', '--format=%(subject)', 'refs/ralph')).toBe(
        'T-001: attempt 1: interrupted',
      )
      expect(existsSync(join(cwd, '.ralph/lock'))).toBe(false)
    },
  )

  it.skipIf(process.platform === 'win32')('goes on with a run that no terminal was given to', async () => {
    const { waits, letGo } = barrier()
    const cwd = repository({ 'T-001': `echo tick; ${waits}; echo one > one.txt` })
    const args = [PROGRAM, 'run', '--agent', 'script']
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.on('data', (chunk) => {
      if (!String(chunk).includes('tick')) return
      child.kill('SIGHUP')
      letGo()
    })
    const [code] = await once(child, 'exit')
    expect([code, git(cwd, 'log', '-1', '--format=%s')]).toEqual([0, 'T-001: Do T-001'])
  })

  it.skipIf(process.platform !== 'linux' || spawnSync('script', ['--version']).error).each([
    ['while an agent works', 'while echo tick; do sleep 0.05; done', 'tick', 'interrupted'],
    ['while it asks', 'echo half > half.txt; exit 3', 'try again', 'agent-failed'],
  ])('ends a run in order where its terminal is closed %s', async (_, script, seen, outcome) => {
    const cwd = repository({ 'T-001': script })
    // `script` gives the program a terminal, which is closed when it dies.
    const command = `stty columns 80; "${process.execPath}" "${PROGRAM}" run --agent script --retries 0`
    const terminal = spawn('script', ['-qfc', command, '/dev/null'], { cwd, env })
    let shown = ''
    terminal.stdout.on('data', (chunk) => (shown += chunk).includes(seen) && terminal.kill('SIGKILL'))
    await once(terminal, 'exit')
    await vi.waitUntil(() => !existsSync(join(cwd, '.ralph/lock')), { timeout: 30_000 })
    expect(git(cwd, 'for-each-ref', '--format=%(subject)', 'refs/ralph')).toBe(`T-001: attempt 1: ${outcome}`)
    expect(git(cwd, 'status', '--porcelain')).toBe('')
  })
})

describe('an error', () => {
  const report = async (
    error: unknown,
    env: Record<string, string> = {},
    log: string | null = null,
  ): Promise<{ code: number; text: string }> => {
    let text = ''
    const stderr = {
      columns: null,
      rows: null,
      onResize: () => () => undefined,
      isWritten: true,
      write: (written: string | Uint8Array) =>
        void (text += typeof written === 'string' ? written : Buffer.from(written).toString()),
    }
    const code = await reportError(error, { argv: [], env, stderr, runLog: { path: log } })
    return { code, text }
  }

  it('that a person can mend says what is wrong and what to do', async () => {
    const { code, text } = await report(new UserError('it broke', 'Mend it.'))
    expect([code, text]).toEqual([2, 'error: it broke\nMend it.\n'])
  })

  it('that is a bug says so, and shows its place only where asked', async () => {
    const quiet = await report(new TypeError('x is not a function'))
    expect(quiet.code).toBe(2)
    expect(quiet.text).toMatch(/This is a bug in ralph/)
    expect(quiet.text).not.toMatch(/\.ts:\d/)
    expect(quiet.text).not.toMatch(/log/)
    expect((await report(new TypeError('x'), { RALPH_DEBUG: '1' })).text).toMatch(/program\.test\.ts:\d+/)
  })

  it('that is a bug in a run says where its log is, and one that a person can mend does not', async () => {
    const log = '.ralph/logs/run-1.ndjson'
    expect((await report(new TypeError('x'), {}, log)).text).toContain(`The log of the run is ${log}\n`)
    expect((await report(new UserError('x'), {}, log)).text).not.toContain(log)
  })

  it.skipIf(process.platform === 'win32')('in the midst of a run names the log that this one has', () => {
    const beside = projectFolder({})
    const [begun, mistake] = [join(beside, 'begun'), join(beside, 'mistake.cjs')]
    const cwd = repository({ 'T-001': `touch '${begun}'; sleep 60` })
    const look = `require('fs').existsSync(${JSON.stringify(begun)})`
    writeFileSync(mistake, `setInterval(() => { if (${look}) throw new TypeError('a mistake') }, 20).unref()`)
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'run', '--agent', 'script'], {
      cwd,
      env: { ...env, NODE_OPTIONS: `--require ${mistake}` },
      encoding: 'utf8',
    })
    const log = /The log of the run is (\S+)/.exec(stderr)?.[1] ?? ''
    expect([status, stderr.split('\n')[0]]).toEqual([2, 'error: a mistake'])
    expect(readFileSync(join(cwd, log), 'utf8')).toContain('"type":"run-finished"')
  })

  it('cannot drive the terminal with what it quotes', async () => {
    expect((await report(new UserError('no file \u001b[2J'))).text).toBe('error: no file ␛[2J\n')
  })
})
