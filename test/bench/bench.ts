import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Row } from './measure.ts'

/** The parts of the table, in its order; each is loaded only where it is measured. */
const PARTS: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  program: async () => (await import('./program.ts')).benchProgram(),
  history: async () => (await import('./history.ts')).benchHistory(),
  seal: async () => (await import('./seal.ts')).benchSeal(),
  run: async () => (await import('./run.ts')).benchRun(),
  jobs: async () => (await import('./jobs.ts')).benchJobs(),
  mcp: async () => (await import('./mcp.ts')).benchMcp(),
  bridge: async () => (await import('./bridge.ts')).benchBridge(),
  screen: async () => (await import('./tui.ts')).benchTui(),
  agents: async () => (await import('./agents.ts')).benchAgents(),
}

/** Prints the table, or the parts of it that are named. */
async function bench(names: readonly string[]): Promise<void> {
  const stranger = names.find((name) => !Object.hasOwn(PARTS, name))
  if (stranger !== undefined) {
    process.stderr.write(`there is no part ${stranger}; the parts are ${Object.keys(PARTS).join(', ')}\n`)
    process.exitCode = 2
    return
  }
  process.stdout.write('| what | measured | beside |\n|---|---|---|\n')
  for (const name of names.length > 0 ? names : Object.keys(PARTS)) {
    for (const { what, value, ratio } of await PARTS[name]!()) {
      process.stdout.write(`| ${what} | ${value} | ${ratio} |\n`)
    }
  }
}

// Certificates that somebody has Node read take it longer than all else.
delete process.env['NODE_EXTRA_CA_CERTS']
const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
process.env['TMPDIR'] = folder
try {
  await bench(process.argv.slice(2))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
