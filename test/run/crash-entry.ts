import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTasks } from '../../src/engine/run.ts'
import { git, put } from '../repository.ts'
import { type Deed, OPTIONS, gateOf, makePorts } from './ports.ts'

/**
 * A run in a process of its own, for the crash test: `root diary [checkpoint occurrence jobs]`. It kills itself with
 * SIGKILL the given time that it comes to the checkpoint. The diary, outside the repository, tells what the agent
 * wrote, which checkpoints were passed, and how the run ended.
 */
const [root = '', diary = '', checkpoint = '', occurrence = '1', jobs = '1'] = process.argv.slice(2)
const note = (line: string): void => appendFileSync(diary, `${line}\n`)

const deed: Deed = ({ task, cwd }) => {
  const token = `${task.id}-by-${process.pid}-${task.attempt}`
  put(cwd, { [`src/${task.id}.txt`]: `${token}\n`, [`new/${task.id}/${task.attempt}`]: `${token}\n` })
  note(`wrote ${token}`)
  if (task.id === 'T-002') {
    git(cwd, 'add', '-A')
    git(cwd, 'commit', '-qm', `T-002: mine\n\nTask: T-002`)
    writeFileSync(join(cwd, 'docs/tasks/T-002.md'), `# T-002: Mine\n\n- **Status**: DONE\n\n${token}\n`)
  }
  if (task.id === 'T-003') {
    git(cwd, 'config', 'agent.was', 'here')
    git(cwd, 'switch', '-qc', 'elsewhere')
  }
  note('cost')
  const blocked = { kind: 'blocked' as const, reason: 'needs a key' }
  return { usage: { turns: 1, costUsd: 0.25 }, ...(task.id === 'T-004' ? { end: blocked } : {}) }
}

const seen = new Map<string, number>()
const ports = await makePorts({
  root,
  deed,
  // The third task's first attempt fails its gate.
  gate: () => !seen.has('third') || (seen.delete('third'), false),
  ports: {
    checkpoint: (name) => {
      const count = (seen.get(name) ?? 0) + 1
      seen.set(name, count)
      note(`passed ${name}`)
      if (name === checkpoint && count === Number(occurrence)) process.kill(process.pid, 'SIGKILL')
    },
  },
})
const options = { ...OPTIONS, gates: [gateOf('test')], budget: 100, jobs: Number(jobs) }
await runTasks(options, ports, (event) => {
  if (event.type === 'attempt-started' && event.id === 'T-003' && event.counted === 1) seen.set('third', 1)
  if (event.type === 'recovered') note(`recovered ${event.message}`)
  if (event.type === 'run-finished') note(`finished ${JSON.stringify(event)}`)
})
