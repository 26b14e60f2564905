import { expect, test } from 'vitest'
import { Tail } from '../../src/base/stream.ts'

test('a tail is the last bytes, however they came', () => {
  for (const size of [1, 3, 7, 5000]) {
    const tail = new Tail(10)
    const text = Array.from({ length: 3000 }, (_, i) => i).join(' ')
    for (let at = 0; at < text.length; at += size) tail.push(Buffer.from(text.slice(at, at + size)))
    expect(tail.text()).toBe(text.slice(-10))
  }
})

test('a tail of little is all of it', () => {
  const tail = new Tail(10)
  expect(tail.text()).toBe('')
  tail.push(Buffer.from('abc'))
  expect(tail.text()).toBe('abc')
  tail.push(Buffer.from('d'))
  expect(tail.text()).toBe('abcd')
})
