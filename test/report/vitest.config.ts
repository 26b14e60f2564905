import { defineConfig } from 'vitest/config'

/** What needs a browser of the machine: `npm run test:browser`. */
export default defineConfig({ test: { include: ['test/report/*.e2e.ts'], testTimeout: 60_000 } })
