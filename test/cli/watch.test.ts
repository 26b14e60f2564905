import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { env } from '../repository.ts'
import { barrier, repository, run } from './script-repository.ts'
import { by, ralph } from './ralph.ts'

const journalIn = (logs: string) => readdirSync(logs).find((one) => one.endsWith('.ndjson')) ?? ''

describe.skipIf(process.platform === 'win32')('ralph watch, without a terminal', () => {
  it('prints the last run as lines, or as its events', async () => {
    const cwd = repository({ 'T-001': 'echo hello; echo x > one' })
    expect(await by(cwd, 'watch')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no runs yet'),
    })
    const first = await run(cwd)
    const { code, stdout } = await by(cwd, 'watch')
    expect(code).toBe(0)
    expect(stdout).toBe(first.stdout)
    const name = journalIn(join(cwd, '.ralph/logs'))
    const journal = readFileSync(join(cwd, '.ralph/logs', name), 'utf8')
    expect((await by(cwd, 'watch', '--json')).stdout).toBe(journal)
    const named = name.slice('run-'.length, 'run-2025-01'.length)
    expect((await by(cwd, 'watch', named)).stdout).toBe(first.stdout)
    expect(await by(cwd, 'watch', 'nowhere')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no run nowhere here'),
    })
  })

  it('follows a run to its end', async () => {
    const { waits, letGo } = barrier()
    const cwd = repository({ 'T-001': `${waits}; echo x > x.txt` }, { agent: 'script' })
    const here = (...argv: string[]) => ralph(argv, { cwd, env, now: new Date() })
    const running = here('run')
    await expect.poll(async () => (await here('status')).stdout).toContain('the agent is')
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
    expect(await by(cwd, 'watch')).toMatchObject({
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
    const at = '"at":"2025-01-15T10:00:00.000Z"'
    lines.splice(3, 0, `{${at},"type":"of-a-later-version","id":"T-001"}`)
    lines.splice(-1, 0, `{${at},"type":"gate-finished","id":"T-001"}`)
    writeFileSync(join(logs, name), lines.join('\n'))
    expect(await by(cwd, 'watch')).toMatchObject({ code: 0, stdout: first.stdout })
  })
})
