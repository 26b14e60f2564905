import { defineConfig, mergeConfig } from 'vitest/config'
import config from '../vitest.config.ts'

const mutant = JSON.parse(process.env['RALPH_MUTANT'] ?? 'null') as {
  readonly file: string
  readonly text: string
} | null

/** The tests, with another text of one file as it is loaded: no file is written. */
export default mergeConfig(
  {
    ...config,
    test: {
      ...config.test,
      globalSetup: ['test/temporary-folder.ts'],
      setupFiles: ['test/mutants/seed.ts'],
      reporters: ['dot'],
    },
  },
  defineConfig({
    plugins: [
      {
        name: 'mutant',
        enforce: 'pre',
        transform: (_code: string, id: string) => (mutant && id === mutant.file ? mutant.text : null),
      },
    ],
  }),
)
