import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/witness/**/*.e2e.ts'],
    globalSetup: ['test/setup.ts', 'test/temporary-folder.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', RALPH_SANDBOX: 'off' },
  },
})
