import { join } from 'node:path'
import type { AgentRequest } from '../../src/agents/port.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { runTasks } from '../../src/engine/run.ts'
import type { Git } from '../../src/git/git.ts'
import { makeRepository, put } from '../repository.ts'
import { doneBy, makePorts, OPTIONS, ownFolder } from '../run/ports.ts'
import {
  PROGRAM,
  type Row,
  bareCommits,
  inTurns,
  median,
  ms,
  run,
  scriptedFiles,
  timed,
  times,
  useOf,
} from './measure.ts'

const TASKS = 11

/**
 * Measures what ralph does between two agents, beside `git add -A && git commit` in the same repository; a whole run and
 * the making of its slot; and what a run takes while its agent prints a gigabyte, beside one that prints next to nothing.
 */
export async function benchRun(): Promise<readonly Row[]> {
  return [
    await betweenRow('11 tasks', {}),
    await betweenRow('1,000 tasks, the last 11 of them', doneTasks(1000 - TASKS)),
    await betweenRow('11 tasks, 20,000 files', otherFiles(20_000)),
    ...(await wholeRows()),
    streamRow(),
  ]
}

/** The time from the end of an agent to the next one, and the git processes in it. */
async function betweenRow(where: string, more: Readonly<Record<string, string>>): Promise<Row> {
  const root = makeRepository({ ...scriptedFiles(TASKS, 'true'), ...more })
  const before = await bareCommits(root, 'before')
  let processes = 0
  const counted = (inner: Git): Git => ({
    ...inner,
    run: (args, options) => (processes++, inner.run(args, options)),
    at: (cwd) => counted(inner.at(cwd)),
    with: (settings) => counted(inner.with(settings)),
  })
  const pauses: { readonly took: number; readonly processes: number }[] = []
  let last: { readonly at: number; readonly processes: number } | null = null
  const end = { kind: 'done' } as const
  const outcome = {
    end,
    finalMessage: '',
    usage: UNKNOWN_USAGE,
    sessionId: null,
    model: null,
    denied: [],
    toolCalls: 0,
    seconds: 0,
  }
  const agent = {
    name: 'bench',
    async run(request: AgentRequest) {
      if (last) pauses.push({ took: performance.now() - last.at, processes: processes - last.processes })
      put(request.cwd, { [`src/${request.task.id}.txt`]: 'x\n' })
      last = { at: performance.now(), processes }
      return outcome
    },
  }
  const ports = await makePorts({ root, counted, ports: doneBy(agent) })
  await runTasks(OPTIONS, ports, (event) => {
    if (event.type === 'warning') throw new Error(event.message)
  })
  const pause = median(pauses.map(({ took }) => took))
  // Before and after, for the machine may be busier at one time than at another.
  const bare = median([...before, ...(await bareCommits(root, 'after'))])
  return {
    what: `agent end to next agent, no gates, no seal: ${where}`,
    value: `${ms(pause, 1)}, ${Math.max(...pauses.map((one) => one.processes))} git processes`,
    ratio: `${times(pause / bare)} bare add and commit (${ms(bare, 1)})`,
  }
}

/** Of the built program: a run with one gate in a slot that is there, and the making of one. */
async function wholeRows(): Promise<readonly Row[]> {
  const config = { gates: [{ name: 'test', command: 'true' }] }
  const root = makeRepository({ ...scriptedFiles(8, 'echo x >> work.txt', config), ...otherFiles(3000) })
  const env = { XDG_CACHE_HOME: ownFolder(root) }
  const whole = (): void => run(root, [process.execPath, PROGRAM, 'run'], env)
  const cold = await timed(whole)
  const { warm, byHand, node } = await inTurns(7, {
    warm: whole,
    byHand: () =>
      run(root, ['sh', '-c', 'echo x >> bare.txt && true && git add -A && git commit -q -m bare']),
    node: () => run(root, [process.execPath, '-e', '0']),
  })
  const checkout = (name: string) => `git worktree add -q --detach ${join(ownFolder(root), name)} HEAD`
  const checkouts = await timed(() => run(root, ['sh', '-c', `${checkout('one')} && ${checkout('two')}`]))
  const over = warm - byHand
  return [
    {
      what: 'ralph run, one task with one gate, a slot that is there, 3,000 files',
      value: `${ms(warm)}, ${ms(over)} over agent, gate and commit`,
      ratio: `${(over / node).toFixed(1)} × bare node (${ms(node)}; at most 20)`,
    },
    {
      what: 'making the slot',
      value: ms(cold - warm),
      ratio: `${times((cold - warm) / checkouts)} two checkouts (${ms(checkouts)}; at most 1.5)`,
    },
  ]
}

/** Of the built program, with the agent in a process of its own. */
function streamRow(): Row {
  const use = (bytes: number) => {
    const line = 'a line as an agent may print it, of some eighty characters, again and again'
    const root = makeRepository(scriptedFiles(1, `yes "${line}" | head -c ${bytes}\necho x > work`))
    return useOf(root, ['run'])
  }
  const [little, much] = [use(1e3), use(1e9)]
  return {
    what: 'ralph run, an agent that prints 1 GB',
    value: `${much.peakMb.toFixed(0)} MB at the peak, ${(much.cpuMs / 1000).toFixed(1)} s of CPU`,
    ratio: `${times(much.peakMb / little.peakMb)} as with 1 kB (${little.peakMb.toFixed(0)} MB)`,
  }
}

function doneTasks(count: number): Record<string, string> {
  const text = `- **Status**: DONE\n\n## Description\n${'More of it.\n'.repeat(50)}`
  const ids = Array.from({ length: count }, (_, index) => `T-${index + 5000}`)
  return Object.fromEntries(ids.map((id) => [`docs/tasks/${id}.md`, `# ${id}: Written\n\n${text}`]))
}

function otherFiles(count: number): Record<string, string> {
  const paths = Array.from({ length: count }, (_, number) => `lib/${number % 200}/${number}.txt`)
  return Object.fromEntries(paths.map((path) => [path, `${path}\n`.repeat(50)]))
}
