import { describe, expect, it } from 'vitest'
import { slotsFolder } from '../../src/cli/setup/slots.ts'

describe('the folder of slots', () => {
  const at = { root: '/home/ada/shop', top: '/home/ada/shop' }

  it('is in the folder of caches, and another for each checkout', () => {
    const env = { XDG_CACHE_HOME: '/cache' }
    const [one, other] = ['/home/ada/shop', '/home/bob/shop'].map((top) =>
      slotsFolder({ root: top, top }, { dir: null, env }),
    )
    expect(one).toMatch(/^\/cache\/ralph\/shop-[0-9a-f]{8}$/)
    expect(other).not.toBe(one)
    expect(slotsFolder(at, { dir: null, env: { HOME: '/home/ada' } })).toContain('/home/ada/.cache/ralph/')
  })

  it('is never in the repository', () => {
    expect(() => slotsFolder(at, { dir: 'work', env: {} })).toThrow('inside of the repository')
    expect(() => slotsFolder(at, { dir: null, env: {} })).toThrow('no folder of caches')
    expect(slotsFolder(at, { dir: '../work', env: {} })).toMatch(/^\/home\/ada\/work\/shop-/)
  })
})
