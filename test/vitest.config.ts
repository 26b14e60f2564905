import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { CountReporter } from './count-reporter.ts'

const cache = join(tmpdir(), `ralph-tests-${process.pid}`)
process.env['RALPH_TESTS_CACHE'] = cache

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup.ts'],
    reporters: ['default', new CountReporter()],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: '100%',
    // Its ES modules, which are what can be bundled, don't load in Node as they are.
    server: { deps: { inline: ['jsonc-parser'] } },
    // Tests start real processes; what a person has set for their own git must not reach them. The sandbox has tests of
    // its own: where it works or not, all others do the same.
    env: {
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      NO_COLOR: '',
      FORCE_COLOR: '',
      RALPH_SANDBOX: 'off',
      // Where runs of tests make their slots; gone when all tests are over.
      XDG_CACHE_HOME: cache,
    },
  },
})
