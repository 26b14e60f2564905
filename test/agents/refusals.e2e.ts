import { describe, expect, inject, test } from 'vitest'
import type { AgentEnd } from '../../src/agents/port.ts'
import { drive } from './drive.ts'
import type { AgentName } from './installed.ts'
import type { Reply } from './model.ts'

const programs = inject('programs')
const ACCESS =
  'You have reached your specified API usage limits. You will regain access on 2030-12-01 at 00:00 UTC.'
const QUOTA = 'You exceeded your current quota, please check your plan and billing details.'
const LATER = new Date('2030-12-01T00:00:00Z')
/** Something on the way answers with a page for people. */
const portal = { kind: 'no-network', isPage: true } as const

const fail = (status: number, message: string, code: string): Reply => ({
  kind: 'fail',
  status,
  message,
  code,
})
const page = (status: number): Reply => ({ kind: 'page', status })

/** How a service refuses, and how an attempt ends then. */
const REFUSALS: Partial<Record<AgentName, readonly (readonly [Reply, Partial<AgentEnd>])[]>> = {
  claude: [
    [fail(400, ACCESS, 'invalid_request_error'), { kind: 'rate-limited', until: LATER }],
    [fail(400, 'Your API_KEY belongs to a disabled organization', 'invalid_request_error'), { kind: 'auth' }],
    [
      fail(429, 'Extra usage is required for long context requests.', 'rate_limit_error'),
      { kind: 'rate-limited', unpaid: true },
    ],
    [page(200), portal],
    // It shows only the title of the page.
    [page(403), { kind: 'refused', hopeless: 'agent' }],
  ],
  codex: [
    [fail(429, QUOTA, 'insufficient_quota'), { kind: 'rate-limited', unpaid: true }],
    // It shows no more than the status.
    [fail(429, 'Your account is not active', 'billing_not_active'), { kind: 'rate-limited', until: null }],
    [fail(400, 'Billing hard limit has been reached', 'billing_hard_limit_reached'), { kind: 'auth' }],
    [
      fail(403, 'To use Codex with your ChatGPT plan, upgrade to Plus', 'usage_not_included'),
      { kind: 'auth' },
    ],
    [
      fail(400, 'Your organization must be verified to stream this model.', 'unsupported_value'),
      { kind: 'refused', hopeless: 'agent' },
    ],
    [
      fail(400, 'Your request was flagged as potentially violating our usage policy.', 'invalid_prompt'),
      { kind: 'refused', hopeless: 'task' },
    ],
    [
      fail(400, 'Your input exceeds the context window of this model.', 'context_length_exceeded'),
      { kind: 'refused', hopeless: 'task' },
    ],
    // It says only that the stream has ended.
    [page(200), { kind: 'no-network' }],
    [page(403), portal],
  ],
  gemini: [
    [fail(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT'), { kind: 'auth' }],
    [
      fail(400, 'User location is not supported for the API use.', 'FAILED_PRECONDITION'),
      { kind: 'refused', hopeless: 'agent' },
    ],
    [page(200), portal],
    [page(403), portal],
  ],
  opencode: [
    [fail(400, 'Billing hard limit has been reached', 'billing_hard_limit_reached'), { kind: 'auth' }],
    [fail(429, QUOTA, 'insufficient_quota'), { kind: 'rate-limited', unpaid: true }],
    [page(200), portal],
    [page(403), portal],
  ],
}

for (const [name, refusals] of Object.entries(REFUSALS) as [AgentName, (typeof REFUSALS)['claude'] & {}][]) {
  describe.skipIf(programs[name] === undefined)(`${name}, when its service refuses it,`, () => {
    test.each(refusals.map(([reply, end]) => [said(reply), reply, end] as const))(
      'ends as it should: %s',
      async (_, reply, end) => {
        const limits = { seconds: 120, stallSeconds: 100 }
        const { outcome } = await drive({ name, programs: programs[name]!, model: () => () => reply, limits })
        expect(outcome).toMatchObject({ end, toolCalls: 0 })
        expect(outcome.usage.outputTokens || null).toBe(null)
      },
    )
  })
}

function said(reply: Reply): string {
  return reply.kind === 'fail' ? `${reply.status} ${reply.message}` : `a page, ${JSON.stringify(reply)}`
}
