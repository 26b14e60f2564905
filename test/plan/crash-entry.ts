import { appendFileSync } from 'node:fs'
import { openPlace } from '../../src/config/project.ts'
import { readOptions, type OptionsOf } from '../../src/cli/options/option.ts'
import { PLAN_OPTIONS } from '../../src/cli/options/run-options.ts'
import { runPlan } from '../../src/cli/setup/run-plan.ts'

/**
 * Planning in a process of its own, for the crash test: `root diary [occurrence]`. It kills itself with SIGKILL at the
 * checkpoint of that number; the diary tells which it passed, and how planning ended.
 */
const [root = '', diary = '', occurrence = '0'] = process.argv.slice(2)
let passed = 0
const never = new AbortController().signal
const place = await openPlace({ cwd: root, dir: undefined })
const result = await runPlan(
  {
    cwd: root,
    env: process.env,
    self: ['ralph'],
    pid: process.pid,
    now: () => new Date(),
    signal: never,
    urgent: never,
  },
  place,
  {
    request: {
      ...(readOptions(PLAN_OPTIONS, new Map()) as OptionsOf<typeof PLAN_OPTIONS>),
      words: ['Users who log in'],
      input: null,
      research: true,
      web: true,
      exports: false,
      yes: true,
      sandbox: 'off',
    },
    front: {
      emit: () => undefined,
      event: () => undefined,
      decide: null,
      confirm: null,
      checkpoint(name) {
        passed += 1
        appendFileSync(diary, `${name}\n`)
        if (passed === Number(occurrence)) process.kill(process.pid, 'SIGKILL')
      },
    },
  },
)
appendFileSync(diary, `end ${result.kind}\n`)
