import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { CountReporter } from './count-reporter.ts'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup.ts', 'test/temporary-folder.ts'],
    reporters: ['default', new CountReporter()],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A machine that has much else to do may take so long.
    expect: { poll: { timeout: 20_000, interval: 20 } },
    maxWorkers: '100%',
    isolate: false,
    unstubEnvs: true,
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
      // Each start of Node reads them, which takes it longer than all else.
      NODE_EXTRA_CA_CERTS: '',
    },
  },
})
