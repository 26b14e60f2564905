import { expect, test } from 'vitest'
import { composeMessage } from '../../src/git/trailers.ts'

test('a message holds nothing that a terminal obeys, in no part of it', () => {
  const message = composeMessage({
    subject: 'T-1: \u001b]0;title\u0007Do\u202e it',
    body: 'One\u001b[2J\r\n\u2066two\tthree\u0000',
    trailers: [{ key: 'Reason', value: 'a\u009b31mb\nc\u2028d' }],
  })
  expect(message).toBe('T-1: Do it\n\nOne\ntwo\tthree\n\nReason: ab c d\n')
})
