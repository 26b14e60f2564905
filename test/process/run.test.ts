import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runProgram } from '../../src/process/run.ts'

const program = (script: string, more: Partial<Parameters<typeof runProgram>[0]> = {}) =>
  runProgram({ program: 'sh', args: ['-c', script], cwd: process.cwd(), env: process.env, ...more })

describe.skipIf(process.platform === 'win32')('a short program', () => {
  it('gives what it prints, how it ended, and takes what it is fed', async () => {
    const { code, stdout, stderr } = await program('cat; echo err >&2; exit 3', { stdin: 'in' })
    expect([code, stdout.toString(), stderr.toString()]).toEqual([3, 'in', 'err\n'])
  })

  it('is heard to its end, also where this process is busy for a while', async () => {
    for (let i = 0; i < 20; i++) {
      const running = program('echo heard')
      // Until the child has ended: then its end and a timer are both due.
      await new Promise((resolve) => setTimeout(resolve, 1))
      spawnSync('sleep', ['0.02'])
      process.nextTick(() => spawnSync('sleep', ['0.08']))
      setTimeout(() => spawnSync('sleep', ['0.08']), 0)
      expect((await running).stdout.toString()).toBe('heard\n')
    }
  })

  it('is not waited for by what it leaves behind with its output open', async () => {
    const { code, stdout } = await program('echo done; sleep 30 & exit 0')
    expect([code, stdout.toString()]).toEqual([0, 'done\n'])
  })

  it('ends when the signal is aborted', async () => {
    const controller = new AbortController()
    const running = program('sleep 60', { signal: controller.signal })
    controller.abort()
    expect((await running).code).not.toBe(0)
  })
})
