import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/worker/**/*.e2e.ts'],
    globalSetup: ['test/setup.ts', 'test/temporary-folder.ts'],
    testTimeout: 600_000,
    hookTimeout: 240_000,
    // Each test has several processes that wait for each other.
    fileParallelism: false,
    env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', NO_COLOR: '', RALPH_SANDBOX: 'off' },
  },
})
