import { describe, expect, it } from 'vitest'
import { relay } from '../../src/landing/relay.ts'

async function heard<T, R>(generator: AsyncGenerator<T, R>): Promise<[T[], R]> {
  const told: T[] = []
  for (;;) {
    const step = await generator.next()
    if (step.done) return [told, step.value]
    told.push(step.value)
  }
}

describe('a relay', () => {
  it('passes on what is told while the work goes on, and then its result', async () => {
    let finish: (result: string) => void = () => undefined
    const relayed = relay<number, string>((tell) => {
      tell(1)
      return new Promise((resolve) => {
        finish = resolve
        tell(2)
      })
    })
    expect((await relayed.next()).value).toBe(1)
    expect((await relayed.next()).value).toBe(2)
    finish('done')
    expect(await relayed.next()).toEqual({ done: true, value: 'done' })
  })

  it('loses nothing that is told at the very end', async () => {
    const told = heard(
      relay<number, string>(async (tell) => (tell(1), await Promise.resolve(), tell(2), 'done')),
    )
    expect(await told).toEqual([[1, 2], 'done'])
  })

  it('fails as the work fails', async () => {
    await expect(heard(relay(async () => Promise.reject(new Error('broken'))))).rejects.toThrow('broken')
  })
})
