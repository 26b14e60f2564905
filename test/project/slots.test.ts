import { describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { slotsFolder } from '../../src/cli/setup/slots.ts'

describe('the folder of slots', () => {
  const folderOf = (top: string, dir: string | null, env: Record<string, string>): string => {
    const workspace = { ...DEFAULTS.workspace, dir }
    return slotsFolder({ root: top, config: { ...DEFAULTS, workspace } }, top, env)
  }
  const shop = '/home/ada/shop'

  it('is in the folder of caches, and another for each checkout', () => {
    const env = { XDG_CACHE_HOME: '/cache' }
    const [one, other] = [shop, '/home/bob/shop'].map((top) => folderOf(top, null, env))
    expect(one).toMatch(/^\/cache\/ralph\/shop-[0-9a-f]{8}$/)
    expect(other).not.toBe(one)
    expect(folderOf(shop, null, { HOME: '/home/ada' })).toContain('/home/ada/.cache/ralph/')
  })

  it('is never in the repository', () => {
    expect(() => folderOf(shop, 'work', {})).toThrow('inside of the repository')
    expect(() => folderOf(shop, null, {})).toThrow('no folder of caches')
    expect(folderOf(shop, '../work', {})).toMatch(/^\/home\/ada\/work\/shop-/)
  })
})
