import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { env, makeRepository } from '../repository.ts'
import { barrier, repository, run } from './script-repository.ts'
import { ralph } from './ralph.ts'

const journalIn = (logs: string) => readdirSync(logs).find((one) => one.endsWith('.ndjson')) ?? ''

describe.skipIf(process.platform === 'win32')('ralph watch, without a terminal', () => {
  it('prints the last run as lines, or as its events', async () => {
    const cwd = repository({ 'T-001': 'echo hello; echo x > one' })
    expect(await ralph(['watch'], { cwd, env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no runs yet'),
    })
    const first = await run(cwd)
    const { code, stdout } = await ralph(['watch'], { cwd, env })
    expect(code).toBe(0)
    expect(stdout).toBe(first.stdout)
    const name = journalIn(join(cwd, '.ralph/logs'))
    const journal = readFileSync(join(cwd, '.ralph/logs', name), 'utf8')
    expect((await ralph(['watch', '--json'], { cwd, env })).stdout).toBe(journal)
    const named = name.slice('run-'.length, 'run-2025-01'.length)
    expect((await ralph(['watch', named], { cwd, env })).stdout).toBe(first.stdout)
    expect(await ralph(['watch', 'nowhere'], { cwd, env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no run nowhere here'),
    })
  })

  it('follows a run to its end', async () => {
    const { waits, letGo } = barrier()
    const root = makeRepository({
      'docs/tasks/T-001.md': '# T-001: Wait\n\n- **Status**: TODO\n',
      'ralph.config.json': JSON.stringify({
        agent: 'command',
        command: `${waits}; echo x > x.txt; echo "<TASK_DONE>"`,
        gates: [],
        commit: { seal: false },
      }),
    })
    const here = (...argv: string[]) => ralph(argv, { cwd: root, env, now: new Date() })
    const running = here('run')
    await expect
      .poll(async () => (await here('status')).stdout, { timeout: 20_000 })
      .toContain('the agent is')
    const watched = here('watch')
    letGo()
    expect(await watched).toMatchObject({ code: 0, stdout: expect.stringContaining('1 done') })
    await running
  })

  it('says that a run has died', async () => {
    const cwd = repository({ 'T-001': 'true' })
    await run(cwd)
    const logs = join(cwd, '.ralph/logs')
    const name = journalIn(logs)
    const lines = readFileSync(join(logs, name), 'utf8').split('\n')
    writeFileSync(join(logs, name), `${lines.slice(0, 4).join('\n')}\n{"cut off in the mid`)
    expect(await ralph(['watch'], { cwd, env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('this run crashed'),
    })
  })

  it('passes over events that it does not know', async () => {
    const cwd = repository({ 'T-001': 'true' })
    const first = await run(cwd)
    const logs = join(cwd, '.ralph/logs')
    const name = journalIn(logs)
    const lines = readFileSync(join(logs, name), 'utf8').split('\n')
    lines.splice(3, 0, '{"at":"2025-01-15T10:00:00.000Z","type":"of-a-later-version","id":"T-001"}')
    mkdirSync(logs, { recursive: true })
    writeFileSync(join(logs, name), lines.join('\n'))
    appendFileSync(
      join(logs, name),
      '{"at":"2025-01-15T10:00:00.000Z","type":"gate-finished","id":"T-001"}\n',
    )
    expect(await ralph(['watch'], { cwd, env })).toMatchObject({ code: 0, stdout: first.stdout })
  })

  it('is refused as a full screen', async () => {
    const cwd = repository({ 'T-001': 'true' })
    expect(await run(cwd, '--tui')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--tui needs a terminal'),
    })
  })
})
