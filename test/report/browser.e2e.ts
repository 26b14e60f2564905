/// <reference lib="dom" />
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { env, makeFolder } from '../repository.ts'
import { HOSTILE, makeBusyHistory } from './busy-history.ts'

/** Where Debian and its like put it; nothing is downloaded. */
const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

describe.skipIf(BROWSER === undefined)('the report in a browser', () => {
  const folder = makeFolder()
  let browser: Browser
  let url: string

  beforeAll(async () => {
    const root = join(folder, 'shop')
    makeBusyHistory(root, { tasks: 60, text: HOSTILE })
    const { stdout } = await ralph(['report', '-o', '-'], { cwd: root, env })
    writeFileSync(join(folder, 'report.html'), stdout)
    url = pathToFileURL(join(folder, 'report.html')).href
    browser = await chromium.launch({ executablePath: BROWSER!, args: ['--no-sandbox'] })
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
  })

  async function open(options: Parameters<Browser['newPage']>[0]): Promise<{ page: Page; heard: string[] }> {
    const page = await browser.newPage(options)
    const heard: string[] = []
    page.on('console', (message) => heard.push(message.text()))
    page.on('pageerror', (error) => heard.push(String(error)))
    page.on('dialog', (dialog) => heard.push(dialog.message()))
    page.on('request', (request) => heard.push(request.url()))
    await page.goto(url)
    return { page, heard }
  }

  it.each([
    ['light', { colorScheme: 'light', viewport: { width: 1100, height: 900 } }],
    ['dark', { colorScheme: 'dark', viewport: { width: 1100, height: 900 } }],
    ['on a phone', { viewport: { width: 390, height: 844 } }],
    ['without script', { javaScriptEnabled: false }],
  ] as const)(
    'loads %s with no error and no request, and is no wider than the window',
    async (_, options) => {
      const { page, heard } = await open(options)
      expect(heard).toEqual([url])
      expect(await page.locator('main section').count()).toBe(6)
      const box = await page.locator('main').boundingBox()
      expect(box!.width).toBeLessThanOrEqual(options === undefined ? 0 : page.viewportSize()!.width)
      await page.close()
    },
  )

  it.each(['light', 'dark'] as const)('has enough contrast, %s', async (colorScheme) => {
    const { page } = await open({ colorScheme })
    const ratios = await page.evaluate(() => {
      const luminance = (colour: string): number => {
        const [r = 0, g = 0, b = 0] = (colour.match(/\d+/g) ?? []).map((part) => {
          const value = Number(part) / 255
          return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
        })
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
      }
      const paper = luminance(getComputedStyle(document.body).backgroundColor)
      const inks = ['body', 'a', '.dim', '.facts', '.done-text', '.failed-text, .blocked-text', 'figcaption']
      return inks.map((selector) => {
        const ink = luminance(getComputedStyle(document.querySelector(selector)!).color)
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)
      })
    })
    for (const ratio of ratios) expect(ratio).toBeGreaterThanOrEqual(4.5)
    await page.close()
  })

  it('has landmarks, names for what is drawn, and is reached by keyboard', async () => {
    const { page } = await open({})
    for (const role of ['banner', 'navigation', 'main', 'contentinfo'] as const)
      expect(await page.getByRole(role).count()).toBe(1)
    expect(await page.locator('svg[role=img]:not([aria-label])').count()).toBe(0)
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').getAttribute('href')).toBe('#progress')
    await page.close()
  })

  it('prints', async () => {
    const { page } = await open({})
    const pdf = await page.pdf({ format: 'A4' })
    expect(pdf.subarray(0, 4).toString()).toBe('%PDF')
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('nav').isVisible()).toBe(false)
    await page.close()
  })
})
