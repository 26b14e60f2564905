import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../src/agent/port.ts'
import { gatherText } from '../../src/engine/gather-text.ts'

const text = (words: string): AgentEvent => ({ type: 'text', text: words })
const warning: AgentEvent = { type: 'warning', message: 'careful' }

async function gathered(events: AsyncIterable<AgentEvent>): Promise<readonly AgentEvent[]> {
  const all: AgentEvent[] = []
  for await (const event of gatherText(events)) all.push(event)
  return all
}

describe('gathering what an agent says', () => {
  it('passes the first on at once and joins what follows at once', async () => {
    async function* burst(): AsyncGenerator<AgentEvent> {
      yield* [text('one'), text('two'), text('three'), warning, text('four')]
    }
    expect(await gathered(burst())).toEqual([text('one'), text('two\nthree'), warning, text('four')])
  })

  it('holds nothing back while the agent is silent', async () => {
    let goOn = (): void => undefined
    async function* slow(): AsyncGenerator<AgentEvent> {
      yield* [text('one'), text('two')]
      await new Promise<void>((resolve) => (goOn = resolve))
    }
    const events = gatherText(slow())
    expect((await events.next()).value).toEqual(text('one'))
    // This ends only if the second is told though the agent says nothing more.
    expect((await events.next()).value).toEqual(text('two'))
    goOn()
    expect((await events.next()).done).toBe(true)
  })

  it('makes few events of many lines, and loses none', async () => {
    async function* flood(): AsyncGenerator<AgentEvent> {
      for (let i = 0; i < 50_000; i++) yield text(`${i}`)
    }
    const all = await gathered(flood())
    expect(all.length).toBeLessThan(200)
    const words = all.flatMap((event) => (event.type === 'text' ? event.text.split('\n') : []))
    expect(words).toEqual(Array.from({ length: 50_000 }, (_, i) => `${i}`))
  })

  it('ends the agent when nobody listens any more', async () => {
    let ended = false
    async function* endless(): AsyncGenerator<AgentEvent> {
      try {
        for (;;) yield warning
      } finally {
        ended = true
      }
    }
    for await (const event of gatherText(endless())) if (event === warning) break
    expect(ended).toBe(true)
  })
})
