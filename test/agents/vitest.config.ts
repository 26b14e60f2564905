import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { TEMPORARY } from './installed.ts'

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/agents/**/*.e2e.ts'],
    globalSetup: ['test/setup.ts', 'test/temporary-folder.ts', 'test/agents/installed.ts'],
    testTimeout: 240_000,
    // The agents are large programs: two at once would only wait for each other.
    fileParallelism: false,
    env: {
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      TMPDIR: TEMPORARY,
      // Gemini reads no settings below a folder that others can write to.
      XDG_CACHE_HOME: join(TEMPORARY, 'cache'),
    },
  },
})
