import { expect, test } from 'vitest'
import type { AgentEnd } from '../../src/agents/port.ts'
import { startProcess, type StartProcess } from '../../src/process/start.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { runOf } from '../agent/requests.ts'
import { jsonProvider } from '../agent/steered-agent.ts'

const provider = {
  ...jsonProvider({ program: 'true', args: [] }),
  reader: () => ({
    line: () => [],
    end: () => ({
      end: { kind: 'no-network' as const, reason: 'It cannot reach its service' },
      finalMessage: '',
      usage: UNKNOWN_USAGE,
      denied: [],
    }),
  }),
}

/** How an agent ends that could not reach its service, where its cage has refused these hosts and been asked for no other. */
async function endOf(refusedHosts: readonly string[] | undefined): Promise<AgentEnd> {
  const start: StartProcess = (command, options) => {
    const running = startProcess(command, options)
    const finished = running.finished.then((end) =>
      end.kind === 'exited' && refusedHosts ? { ...end, refusedHosts } : end,
    )
    return { pid: running.pid, end: (mode) => running.end(mode), finished }
  }
  return (await runOf(provider, {}, { start })).outcome.end
}

test('an agent that its cage keeps from its service is not waited for', async () => {
  expect(await endOf(['gateway.example'])).toEqual({
    kind: 'refused',
    hopeless: 'agent',
    reason:
      'It cannot reach its service; the sandbox refused gateway.example: if that is its service, name it in sandbox.network',
  })
})

test('where it was asked for what is allowed, the network is what is missing', async () => {
  expect(await endOf(undefined)).toEqual({ kind: 'no-network', reason: 'It cannot reach its service' })
})
