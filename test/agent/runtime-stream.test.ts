import { expect, test } from 'vitest'
import { createAgent } from '../../src/agents/runtime.ts'
import { QUICK, requestOf } from './requests.ts'
import { jsonProvider } from './steered-agent.ts'

const line = JSON.stringify({ type: 'text', text: 'y'.repeat(8000) })
const BYTES = 300_000_000

test.skipIf(process.platform === 'win32')('a stream of 300 MB is read in flat memory', async () => {
  const provider = jsonProvider({ program: 'sh', args: ['-c', `yes '${line}' | head -c ${BYTES}; echo`] })
  const before = process.memoryUsage.rss()
  let [texts, peak] = [0, 0]
  await createAgent(provider, QUICK).run(requestOf(), (event) => {
    if (event.type === 'text') texts++
    if (texts % 1000 === 0) peak = Math.max(peak, process.memoryUsage.rss())
  })
  expect(texts).toBe(Math.floor(BYTES / (line.length + 1)))
  expect(peak - before).toBeLessThan(150_000_000)
})
