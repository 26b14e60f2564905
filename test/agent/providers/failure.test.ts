import { expect, test } from 'vitest'
import { failureEnd, silentEnd } from '../../../src/agents/providers/failure.ts'

const words = { agent: 'Any', login: 'log in', now: () => new Date(2026, 10, 18, 9, 0) }

test.each([
  [401, 'invalid x-api-key', 'auth'],
  [403, 'forbidden', 'refused'],
  [403, 'OAuth token is invalid, please run /login', 'auth'],
  [402, 'pay first', 'auth'],
  [400, 'Your credit balance is too low to access the API', 'auth'],
  [429, 'rate limit', 'rate-limited'],
  [429, 'Rate limit reached for gpt-5. Please try again in 20s. Visit /account/billing', 'rate-limited'],
  [429, 'You exceeded your current quota, please check your plan and billing details.', 'rate-limited'],
  [429, 'insufficient_quota', 'rate-limited'],
  [503, 'unavailable', 'overloaded'],
  [529, 'Overloaded', 'overloaded'],
  [400, 'prompt is too long', 'refused'],
  [404, 'model: no-such-model', 'refused'],
  [null, 'unexpected status 401 Unauthorized: invalid x-api-key', 'auth'],
  [null, '[API Error: {"error":{"code":429,"message":"Quota"}}]', 'rate-limited'],
  [null, '[API Error: 503 try later]', 'overloaded'],
  [null, '401 invalid x-api-key', 'auth'],
  [null, "You've hit your usage limit.", 'rate-limited'],
  [null, "You've hit your session limit · resets 3pm", 'rate-limited'],
  [null, 'The model is at capacity', 'overloaded'],
  [null, 'Please run /login', 'auth'],
  [null, 'Payment Required', 'auth'],
  [null, 'API Error: Unable to connect to API (ECONNREFUSED)', 'no-network'],
  [null, 'exception TypeError: fetch failed sending request', 'no-network'],
  [null, 'request to https://api.example failed, reason: getaddrinfo ENOTFOUND api.example', 'no-network'],
  [null, 'stream disconnected before completion: error sending request for url', 'no-network'],
  [null, 'Connection error.', 'no-network'],
  [502, 'upstream: connection refused', 'overloaded'],
  [null, 'stream disconnected before completion: stream closed before response.completed', 'no-network'],
  [null, '[API Error: Incomplete JSON segment at the end]', 'no-network'],
  [null, 'unexpected status 403 Forbidden: <!DOCTYPE html> <html><head><title>Welcome</title>', 'no-network'],
  [
    null,
    'API returned a malformed response (HTTP 200). Response: body is an HTML page, 85 bytes',
    'no-network',
  ],
  [502, '<html><body>Bad gateway</body></html>', 'overloaded'],
  [403, 'Failed to authenticate. API Error: 403 Welcome', 'refused'],
  [400, 'Your API_KEY belongs to a disabled organization', 'auth'],
  [null, 'API key not valid. Please pass a valid API key.', 'auth'],
  [
    400,
    'You have reached your specified API usage limits. You will regain access on 2026-12-01',
    'rate-limited',
  ],
  [null, 'Billing hard limit has been reached', 'auth'],
  [null, 'unexpected status 403 Forbidden: To use Codex with your ChatGPT plan, upgrade to Plus', 'auth'],
  [null, 'something odd in line 429 of main.ts', 'crashed'],
  [null, 'wrote 500 files', 'crashed'],
  [null, 'context deadline exceeded', 'crashed'],
  [null, 'The request exceeded its timeout of 30 s', 'crashed'],
])('%s "%s" is %s', (status, message, kind) => {
  expect(failureEnd({ status, message }, words).kind).toBe(kind)
})

test.each([
  [404, 'model: no-such-model', 'agent'],
  [404, 'The model `no-such` does not exist or you do not have access to it.', 'agent'],
  [
    null,
    "There's an issue with the selected model (no-such). It may not exist or you may not have access.",
    'agent',
  ],
  [400, "The 'no-such' model is not supported when using Codex with a ChatGPT account.", 'agent'],
  [null, 'Model not found: fake/no-such', 'agent'],
  [400, 'prompt is too long: 215000 tokens > 200000 maximum', 'task'],
  [400, "This model's maximum context length is 128000 tokens.", 'task'],
  [413, 'Request Entity Too Large', 'task'],
  [null, "Codex ran out of room in the model's context window. Start a new thread.", 'task'],
  [400, 'Your request was flagged as potentially violating our usage policy.', 'task'],
  [null, 'Your organization must be verified to stream this model.', 'agent'],
  [400, 'User location is not supported for the API use.', 'agent'],
  [400, 'messages.3: tool_use ids must be unique', null],
])('%s "%s" is hopeless for %s', (status, message, hopeless) => {
  expect(failureEnd({ status, message }, words)).toMatchObject({ kind: 'refused', hopeless })
})

test.each([
  ['Error: the list of servers failed with status code 404', null],
  ['Error: Invalid request: the message is too long', null],
  ['Error: Model not found: fake/no-such', 'agent'],
])('the last word on stderr, "%s", ends no more than is certain', (stderr, hopeless) => {
  expect(silentEnd({ code: 1, signal: null, stderr }, words)).toMatchObject({ kind: 'refused', hopeless })
})

test('what a person can do about a 403 is not to log in', () => {
  expect(failureEnd({ status: 403, message: 'not for your region' }, words)).toEqual({
    kind: 'refused',
    reason: 'The service, or a proxy before it, forbids this to Any: not for your region',
    hopeless: 'agent',
  })
})

test('a quota that is used up may be about money only where no time to try again is named', () => {
  const end = (message: string) => failureEnd({ status: 429, message }, words)
  for (const message of [
    'insufficient_quota: too much',
    'Quota exceeded. Check your plan and billing details.',
    'Extra usage is required for long context requests.',
  ])
    expect(end(message)).toMatchObject({ kind: 'rate-limited', until: null, unpaid: true })
  expect(end('insufficient_quota: try again in 20s')).not.toHaveProperty('unpaid')
  expect(end('Quota exceeded. Check your plan and billing details. Retry in 20s')).not.toHaveProperty(
    'unpaid',
  )
  expect(end('quota, see your billing details')).not.toHaveProperty('unpaid')
})

test('a date in the message is when a limit ends', () => {
  const message = 'You have reached your limits. You will regain access on 2026-12-01 at 09:30 UTC.'
  const until = new Date('2026-12-01T09:30:00Z')
  expect(failureEnd({ status: 429, message }, words)).toMatchObject({ kind: 'rate-limited', until })
})

test('the moment that the stream tells wins over one in the words', () => {
  const until = new Date(2026, 10, 19)
  expect(failureEnd({ status: 429, message: 'try again in 5m', until }, words)).toHaveProperty('until', until)
})

test('an exit without a word is told by its code, and with the last words where there are some', () => {
  const exit = { code: 3, signal: null, stderr: '' }
  expect(silentEnd(exit, words)).toEqual({ kind: 'crashed', reason: 'Any exited with code 3' })
  const stderr = '\u001b[31mError: boom\u001b[0m\n    at main (file.js:1:2)\n}\n'
  expect(silentEnd({ ...exit, stderr }, words)).toEqual({
    kind: 'crashed',
    reason: 'Any exited with code 3: Error: boom',
  })
})

test('a person reads what a log or a response says, not its form', () => {
  const stderr =
    'timestamp=2026-11-20T12:09:24Z level=ERROR run=4d message="failed to start" error.error="InitError: no \\"fake\\""'
  expect(silentEnd({ code: 1, signal: null, stderr }, words)).toEqual({
    kind: 'crashed',
    reason: 'Any exited with code 1: failed to start: InitError: no "fake"',
  })
  const message = JSON.stringify({ error: { message: JSON.stringify({ detail: 'Invalid schema' }) } })
  expect(failureEnd({ message }, words)).toEqual({ kind: 'crashed', reason: 'Any failed: Invalid schema' })
})
