import { expect, test } from 'vitest'
import { renameOver } from '../../src/base/atomic-file.ts'

/** A system that refuses a rename so many times; gives how often it was asked, and how long was waited. */
function refusing(times: number, platform: NodeJS.Platform, code: string) {
  const seen = { asked: 0, waited: 0 }
  const rename = (): void => {
    if (seen.asked++ < times) throw Object.assign(new Error(code), { code })
  }
  const wait = (milliseconds: number): void => {
    seen.waited += milliseconds
  }
  return { seen, system: { platform, rename, wait } }
}

test('a file that is open for a moment is renamed over once it is closed', () => {
  const { seen, system } = refusing(3, 'win32', 'EPERM')
  renameOver('a', 'b', system)
  expect(seen).toEqual({ asked: 4, waited: 70 })
})

test.each([
  ['stays open', 'win32', 'EBUSY', 1000],
  ['is refused for another reason', 'win32', 'ENOENT', 0],
  ['is refused where open files are no obstacle', 'linux', 'EACCES', 0],
] as const)('a file that %s is not asked for longer than a second', (_, platform, code, least) => {
  const { seen, system } = refusing(Infinity, platform, code)
  expect(() => renameOver('a', 'b', system)).toThrow(code)
  expect(seen.waited).toBeGreaterThanOrEqual(least)
  expect(seen.waited).toBeLessThanOrEqual(least === 0 ? 0 : 1100)
})
