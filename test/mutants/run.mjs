// Changes one place of the code at a time and runs the tests that answer for its folder: one has to fail.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { changed, placesIn, randomFrom } from './places.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url)).replaceAll('\\', '/')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
    at: { type: 'string' },
  },
})
/** The tests that answer for a folder: the second list runs only where the first notices nothing. */
const GOLDEN = ['test/cli/golden.test.ts', 'test/cli/views.test.ts']
const TESTS = {
  'backlog/select': [['test/select/'], GOLDEN],
  backlog: [['test/task/'], [...GOLDEN, 'test/lint/']],
  'backlog/lint': [['test/lint/'], GOLDEN],
  prompt: [['test/prompt/'], ['test/cli/prompt.test.ts']],
  screen: [['test/ui/'], [...GOLDEN, 'test/cli/history-commands.test.ts']],
  engine: [
    ['test/attempt/', 'test/engine/', 'test/run/checked-tree.test.ts'],
    [
      'test/run/together.test.ts',
      'test/run/foreign-commits.test.ts',
      'test/run/loop.test.ts',
      'test/cli/by-hand.test.ts',
    ],
  ],
}
/** Whoever never ends is noticed too. */
const LIMIT_MS = 600_000

const say = (text) => process.stdout.write(`${text}\n`)

/** Every mutant of a folder. */
function mutantsOf(folder) {
  return readdirSync(`${root}src/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .flatMap((name) => {
      const path = `${folder}/${name.replaceAll('\\', '/')}`
      const text = readFileSync(`${root}src/${path}`, 'utf8')
      return placesIn(text).map((place) => {
        const line = text.slice(0, place.index).split('\n').length
        return { ...place, folder, file: `${root}src/${path}`, name: `${path}:${line}` }
      })
    })
}

/** A sample that is the same for the same seed. */
function sampleOf(mutants, count, random) {
  const left = [...mutants]
  const take = () => left.splice(Math.floor(random() * left.length), 1)[0]
  return Array.from({ length: Math.min(count, left.length) }, take)
}

/** Whether these tests fail with another text of that file. */
function fails(tests, mutant) {
  // How long something takes is measured again and again, which takes longer than all the others together.
  const slow = ['--exclude', 'test/task/linear.test.ts']
  const args = [
    'run',
    '--config',
    'test/mutants/vitest.config.ts',
    '--maxWorkers',
    '1',
    '--bail',
    '1',
    ...slow,
  ]
  const vitest = spawn(process.execPath, [`${root}node_modules/vitest/vitest.mjs`, ...args, ...tests], {
    cwd: root,
    env: { RALPH_PROPERTY_RUNS: '200', ...process.env, RALPH_MUTANT: JSON.stringify(mutant) },
    stdio: 'ignore',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  return new Promise((resolve, reject) => {
    vitest.once('error', reject)
    vitest.once('exit', (code) => resolve(code !== 0))
  })
}

const green = new Set()

/** Tests that fail without a change would notice whatever is tried. */
async function mustPass(tests) {
  if (green.has(tests)) return
  if (await fails(tests, null)) throw new Error(`these tests fail without any change: ${tests.join(' ')}`)
  green.add(tests)
}

async function isNoticed({ folder, file }, text) {
  for (const tests of TESTS[folder]) {
    await mustPass(tests)
    if (await fails(tests, { file, text })) return true
  }
  return false
}

const lineOf = (text, { name }) => text.split('\n')[Number(name.split(':').at(-1)) - 1].trim()

/** How many of a folder's mutants were tried and noticed. */
async function measure(folder) {
  const isWanted = ({ name }) =>
    values.at === undefined || name === values.at || name.startsWith(`${values.at}:`)
  const all = mutantsOf(folder).filter(isWanted)
  const sample =
    values.at === undefined ? sampleOf(all, Number(values.count), randomFrom(Number(values.seed))) : all
  let noticed = 0
  for (const mutant of sample) {
    const text = changed(readFileSync(mutant.file, 'utf8'), mutant)
    const isCaught = await isNoticed(mutant, text)
    if (isCaught) noticed++
    const change = `${mutant.from.trim()} → ${mutant.to.trim()}`
    say(`${isCaught ? 'noticed ' : 'SURVIVED'}  ${mutant.name}  ${change}   ${lineOf(text, mutant)}`)
  }
  return { folder, noticed, tried: sample.length, all: all.length }
}

const folders = positionals.length > 0 ? positionals : Object.keys(TESTS)
const unknown = folders.find((folder) => !(folder in TESTS))
if (unknown !== undefined) throw new Error(`no folder ${unknown}: ${Object.keys(TESTS).join(', ')}`)
const rows = []
for (const folder of folders) rows.push(await measure(folder))
for (const { folder, noticed, tried, all } of rows)
  say(`${folder.padEnd(8)} ${noticed} of ${tried} noticed, of ${all} that there are`)
process.exitCode = rows.some(({ noticed, tried }) => noticed < tried) ? 1 : 0
