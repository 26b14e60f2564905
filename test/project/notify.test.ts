import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { noticeOf, type Notice } from '../../src/screen/notify.ts'
import { runStarted } from '../events/run-started.ts'
import { env } from '../repository.ts'
import { repository } from '../cli/script-repository.ts'
import { ralph } from '../cli/ralph.ts'

const AT = '2025-01-15T14:30:00.000Z'

/** Somebody who takes what is posted, and answers as the test says. */
async function webhook(status = 204) {
  const bodies: Notice[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      bodies.push(JSON.parse(body))
      response.writeHead(status).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { bodies, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret` }
}

const run = (cwd: string, more: Record<string, string> = {}, ...argv: string[]) =>
  ralph(['run', '--agent', 'script', '--baseline', 'off', '--retries', '0', ...argv], {
    cwd,
    env: { ...env, HOME: join(cwd, '.git'), ...more },
  })

describe('whoever is to be called', () => {
  it('is called for a blocked task and for the end of a run, in a webhook and by a command', async () => {
    const { bodies, address } = await webhook()
    const command =
      'cat >> .git/notices; echo "$RALPH_EVENT $RALPH_TASK: $RALPH_TEXT" >> .git/lines; tty >> .git/tty; true'
    const cwd = repository({ 'T-001': 'exit 3' }, { notify: { command, webhook: 'env:HOOK' } })
    const { stdout, stderr } = await run(cwd, { HOOK: address })
    expect(stdout + stderr).not.toContain('warning')
    const text = 'T-001 is blocked: one attempt, and no more: the script exited with code 3'
    expect(bodies).toMatchObject([
      { version: 1, event: 'blocked', id: 'T-001', branch: 'main', text },
      { event: 'end', id: null, result: { end: 'done', completed: [], blocked: ['T-001'] } },
    ])
    const notices = readFileSync(join(cwd, '.git/notices'), 'utf8').trim().split('\n')
    expect(notices.map((line) => JSON.parse(line))).toEqual(bodies)
    expect(readFileSync(join(cwd, '.git/lines'), 'utf8').split('\n')[0]).toBe(`blocked T-001: ${text}`)
    expect(readFileSync(join(cwd, '.git/tty'), 'utf8').split('\n')[0]).toBe('not a tty')
  })

  it.each([
    ['exit 4', null, 'notify.command exited with code 4'],
    [null, 'env:NOT_SET', 'notify.webhook has no address: NOT_SET is not set'],
    [null, 'env:PATH', 'notify.webhook: PATH holds no address of the web'],
    [null, 'env:HOOK', 'notify.webhook was not reached: ECONNREFUSED'],
  ])('and cannot be (%s, %s) is a warning, and stops nothing', async (command, hook, warning) => {
    const cwd = repository(
      { 'T-001': 'exit 3', 'T-002': 'echo 2 > 2.txt' },
      { notify: { command, webhook: hook } },
    )
    const more = { HOOK: 'http://127.0.0.1:2/secret' }
    const { code, stdout } = await run(cwd, more, '--loop')
    expect([code, stdout]).toEqual([1, expect.stringContaining('1 done · 1 blocked')])
    expect(stdout.match(new RegExp(`warning ${warning}`, 'g'))).toHaveLength(2)
    expect(stdout).not.toContain('secret')
  })

  it('is a warning on stderr after the last line of JSON', async () => {
    const { bodies, address } = await webhook(500)
    const cwd = repository({ 'T-001': 'echo 1 > 1.txt' }, { notify: { webhook: 'env:HOOK' } })
    const { code, stdout, stderr } = await run(cwd, { HOOK: address }, '--json')
    expect([code, bodies.length, stderr]).toEqual([0, 1, 'warning notify.webhook was answered with 500\n'])
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({ type: 'run-finished' })
  })

  it('is not called where nobody is', async () => {
    const cwd = repository({ 'T-001': 'exit 3' })
    expect((await run(cwd)).stdout).not.toContain('warning')
    expect(existsSync(join(cwd, '.git/notices'))).toBe(false)
  })
})

describe('a notice', () => {
  const started = runStarted()
  const text = (more: { text: string; options?: readonly string[] }) =>
    noticeOf({ type: 'question', at: AT, id: 'T-004', options: [], ...more }, started)
  it('of a question says who asks, and what there is to choose from', () => {
    expect(text({ text: 'Which licence?', options: ['MIT'] })).toEqual({
      version: 1,
      event: 'question',
      at: AT,
      run: 'r',
      project: 'shop',
      branch: 'main',
      id: 'T-004',
      text: 'T-004 asks: Which licence?',
      options: ['MIT'],
    })
    expect(text({ text: 'T-004 failed: no key' })?.text).toBe('T-004 failed: no key')
  })

  it('is none of anything else', () => {
    expect(noticeOf({ type: 'paused', at: AT }, started)).toBeNull()
  })
})
