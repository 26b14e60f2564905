import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { gatheredText } from '../../src/engine/run-agent.ts'

describe('gathering what an agent says', () => {
  it('joins what comes at once', () => {
    const all: string[] = []
    const text = gatheredText((one) => all.push(one))
    for (const one of ['one', 'two', 'three']) text.add(one)
    text.flush()
    text.flush()
    expect(all).toEqual(['one\ntwo\nthree'])
  })

  it('holds nothing back while the agent is silent', async () => {
    const all: string[] = []
    const text = gatheredText((one) => all.push(one))
    text.add('one')
    while (all.length === 0) await pause(5)
    text.add('two')
    while (all.length === 1) await pause(5)
    expect(all).toEqual(['one', 'two'])
  })

  it('makes few events of many lines, and loses none', () => {
    const all: string[] = []
    const text = gatheredText((one) => all.push(one))
    for (let i = 0; i < 50_000; i++) text.add(`${i}`)
    text.flush()
    expect(all.length).toBeLessThan(200)
    expect(all.join('\n').split('\n')).toEqual(Array.from({ length: 50_000 }, (_, i) => `${i}`))
  })
})
