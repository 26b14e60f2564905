import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { missingProgram } from '../../src/gates/missing-program.ts'

const cwd = mkdtempSync(join(tmpdir(), 'ralph-gates-'))
writeFileSync(join(cwd, 'check.sh'), '#!/bin/sh\n')
chmodSync(join(cwd, 'check.sh'), 0o755)
const env = { PATH: '/usr/bin:/bin' }

describe.skipIf(process.platform === 'win32')('the program of a gate', () => {
  it.each([
    ['no-such-pnpm test', 'no-such-pnpm'],
    ['CI=1 NODE_ENV=test no-such-pnpm test', 'no-such-pnpm'],
    ['cd . && no-such-go vet ./...', 'no-such-go'],
    ['cat x | no-such-jq .', 'no-such-jq'],
    ['./no-such-check.sh', './no-such-check.sh'],
    ["no-such-pytest -k 'not slow' > out.txt", 'no-such-pytest'],
  ])('is missing in `%s`', async (command, program) => {
    expect(await missingProgram(command, { cwd, env })).toBe(program)
  })

  it.each([
    ['is there', 'cat x'],
    ['stands in the shell itself', 'test -d . && cd .'],
    ['stands in the project', './check.sh --all'],
    ['may be missing', 'no-such-pnpm test || true'],
    ['depends on what happens first', 'if true; then no-such-pnpm; fi'],
    ['stands where a `cd` leads', 'cd web && ./no-such-check.sh'],
    ['stands in quotes', "'no such program' test"],
    ['is looked for in another place', 'PATH=.venv/bin:$PATH no-such-pytest'],
    ['may come from what is read before', '. ./env && no-such-pytest'],
    ['is not written down', '$PNPM test'],
    ['is none', ''],
  ])('is not called missing where it %s', async (_, command) => {
    expect(await missingProgram(command, { cwd, env })).toBeNull()
  })
})
