import { expect, it } from 'vitest'
import type { Agent, AgentReply, AgentRequest } from '../../../src/agents/port.ts'
import type { Happening } from '../../../src/engine/events/event.ts'
import { agentQuestions } from '../../../src/cli/setup/ask-agent.ts'
import { makeRunFolder } from '../../../src/engine/folder.ts'
import type { RunTrace } from '../../../src/process/tree.ts'
import { git, put } from '../../repository.ts'
import { makeProject, read } from '../../run/harness.ts'
import { agentOf, choiceOf, makePorts, OPTIONS, type Said } from '../../run/ports.ts'

const START = Date.parse('2026-01-01T00:00:00Z')
const QUESTION = {
  id: 'plan-shop-research',
  file: 'docs/plans/shop/plan.md',
  prompt: 'What is there?',
  answer: { schema: { type: 'object' }, passage: 'It fits this schema: {}' },
  env: { RALPH_PLAN_PHASE: 'research' },
  time: 1,
  most: 3,
} as const

interface Asked {
  readonly root: string
  readonly replies: readonly AgentReply[]
  readonly events: readonly Happening[]
  readonly notes: readonly (RunTrace | null)[]
  readonly requests: readonly AgentRequest[]
  /** How long all of it waited. */
  readonly waited: number
}

/** Asks as often as there are questions; the agents say what stands for each time that they are asked. */
async function ask(
  says: Readonly<Record<string, (request: AgentRequest, time: number) => Said>>,
  {
    times = 1,
    budget = null,
    files = {},
    prompt = QUESTION.prompt,
    takesSchema = [],
  }: {
    readonly times?: number
    readonly budget?: number | null
    /** Not committed. */
    readonly files?: Readonly<Record<string, string>>
    readonly prompt?: string
    /** The agents that get the schema by an option. */
    readonly takesSchema?: readonly string[]
  } = {},
): Promise<Asked> {
  const root = makeProject({}, { 'docs/tasks/none.md': '' })
  put(root, files)
  let clock = START
  const [events, notes, requests]: [Happening[], (RunTrace | null)[], AgentRequest[]] = [[], [], []]
  const agents = Object.entries(says).map(([name, say]): Agent => {
    let time = 0
    return agentOf((request) => {
      requests.push(request)
      return say(request, ++time)
    }, name)
  })
  const ports = await makePorts({
    root,
    ports: {
      now: () => new Date(clock),
      sleep: async (milliseconds) => void (clock += milliseconds),
      agent: async ({ name }) => agents.find((agent) => agent.name === name)!,
    },
  })
  makeRunFolder(ports.folder)
  const [first, ...others] = Object.keys(says).map((name) =>
    choiceOf(name, { takesSchema: takesSchema.includes(name) }),
  )
  const questions = agentQuestions(
    { ...OPTIONS, retries: 1, budget, turns: 10, seconds: 60, spentUsd: null },
    {
      ...ports,
      choices: [first!, ...others],
      note: (work) => notes.push(work),
      emit: (event) => events.push(event),
    },
  )
  const replies: AgentReply[] = []
  for (let time = 0; time < times; time++) replies.push(await questions.ask({ ...QUESTION, prompt }))
  return { root, replies, events, notes, requests, waited: clock - START }
}

const limited = (until: number): Said => ({
  end: { kind: 'rate-limited', reason: 'limit', until: new Date(until) },
})

it('hands over what is asked, and gives what is answered, with or without a marker', async () => {
  const { replies, requests, notes } = await ask(
    {
      fake: (_, time) => ({
        message: '{}',
        ...(time === 2 ? { end: { kind: 'no-marker' } } : {}),
        usage: { turns: 2 },
      }),
    },
    { times: 2 },
  )
  expect(replies.map(({ kind }) => kind)).toEqual(['answered', 'answered'])
  expect(replies[0]).toMatchObject({ text: '{}', agent: 'fake', usage: { turns: 2 } })
  expect(requests[0]).toMatchObject({
    prompt: 'What is there?',
    answer: QUESTION.answer,
    env: { RALPH_PLAN_PHASE: 'research' },
    task: { id: 'plan-shop-research', file: 'docs/plans/shop/plan.md' },
  })
  // While an agent works it is noted how to find what it has started, and afterwards that nobody does.
  expect(notes.map((work) => work && work.mark !== '')).toEqual([true, null, true, null])
})

it('leaves the schema out of the prompt of an agent that gets it by an option', async () => {
  const says = { first: () => limited(START + 1), claude: () => ({ message: '{}' }) }
  const { requests } = await ask(says, {
    prompt: `Answer. ${QUESTION.answer.passage}`,
    takesSchema: ['claude'],
  })
  expect(requests.map(({ prompt }) => prompt)).toEqual([
    'Answer. It fits this schema: {}',
    'Answer. It fits the schema that you were given.',
  ])
})

it('waits for the end of a limit, and asks again', async () => {
  const { replies, waited, events } = await ask({
    fake: (_, time) => (time === 1 ? limited(START + 3_600_000) : { message: '{}' }),
  })
  expect(replies[0]).toMatchObject({ kind: 'answered' })
  expect(waited).toBeGreaterThanOrEqual(3_600_000)
  expect(events.filter(({ type }) => type === 'waiting')).toHaveLength(1)
})

it('has another agent go on meanwhile', async () => {
  const { replies, waited } = await ask({
    first: () => limited(START + 3_600_000),
    second: () => ({ message: '{}' }),
  })
  expect(replies[0]).toMatchObject({ kind: 'answered', agent: 'second' })
  expect(waited).toBe(0)
})

it('ends at the budget of all questions together', async () => {
  const { replies, requests } = await ask(
    { fake: () => ({ message: '{}', usage: { costUsd: 0.6 } }) },
    { times: 3, budget: 1 },
  )
  expect(replies.map((reply) => (reply.kind === 'stopped' ? reply.why : reply.kind))).toEqual([
    'answered',
    'answered',
    'budget',
  ])
  expect(requests.map(({ limits }) => limits.budgetUsd)).toEqual([1, 0.4])
})

it('tries again where the agent broke down, as often as a task is', async () => {
  const crashed: Said = { end: { kind: 'crashed', reason: 'it broke' } }
  expect(
    (await ask({ fake: (_, time) => (time === 1 ? crashed : { message: '{}' }) })).replies[0]?.kind,
  ).toBe('answered')
  const { replies, requests } = await ask({ fake: () => crashed })
  expect(replies[0]).toEqual({ kind: 'stopped', why: 'failed', reason: 'it broke' })
  expect(requests).toHaveLength(2)
})

it.each<[Said, AgentReply]>([
  [{ end: { kind: 'blocked', reason: 'a key' } }, { kind: 'stopped', why: 'asks', reason: 'a key' }],
  [{ end: { kind: 'auth', reason: 'no login' } }, { kind: 'stopped', why: 'failed', reason: 'no login' }],
  [
    { end: { kind: 'interrupted' } },
    { kind: 'stopped', why: 'interrupted', reason: 'planning was interrupted' },
  ],
])('stops where nothing else helps: %j', async (said, reply) => {
  expect((await ask({ fake: () => said })).replies).toEqual([reply])
})

it('has an agent read the files of the checkout as they are, elsewhere, and throws away what it writes', async () => {
  const { root, events, replies } = await ask(
    {
      fake: ({ cwd }, time) => {
        const message = `${read(cwd, 'docs/idea.md')}${read(cwd, 'README.md')}`
        if (time === 1) put(cwd, { 'README.md': 'bad\n', 'src/new.ts': 'new\n', 'docs/idea.md': 'bad\n' })
        return { message }
      },
    },
    { times: 2, files: { 'docs/idea.md': 'not committed\n' } },
  )
  const texts = replies.map((reply) => (reply.kind === 'answered' ? reply.text : reply.kind))
  expect(texts).toEqual(['not committed\n# shop\n', 'not committed\n# shop\n'])
  expect(read(root, 'README.md')).toBe('# shop\n')
  expect(read(root, 'docs/idea.md')).toBe('not committed\n')
  expect(git(root, 'status', '--porcelain')).toBe('?? docs/idea.md')
  expect(events.filter(({ type }) => type === 'interference')).toEqual([
    {
      type: 'interference',
      id: 'plan-shop-research',
      interference: { kind: 'written', paths: ['README.md', 'docs/idea.md', 'src/new.ts'] },
    },
  ])
})
