// Changes one place of the code at a time and runs the tests of its folder: a test has to fail.
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
const FOLDERS = ['select', 'task', 'lint', 'prompt', 'ui', 'attempt', 'landing']
/** Whoever never ends is noticed too. */
const LIMIT_MS = 180_000

const say = (text) => process.stdout.write(`${text}\n`)

/** Every mutant of these folders; `at` leaves those of one file, or of one of its lines. */
function mutantsOf(folders) {
  return folders.flatMap((folder) =>
    readdirSync(`${root}src/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .sort()
      .flatMap((name) => {
        const path = `${folder}/${name.replaceAll('\\', '/')}`
        const text = readFileSync(`${root}src/${path}`, 'utf8')
        return placesIn(text).map((place) => {
          const line = text.slice(0, place.index).split('\n').length
          return { ...place, folder, file: `${root}src/${path}`, name: `${path}:${line}` }
        })
      }),
  )
}

/** A sample that is the same for the same seed. */
function sampleOf(mutants, count, random) {
  const left = [...mutants]
  const take = () => left.splice(Math.floor(random() * left.length), 1)[0]
  return Array.from({ length: Math.min(count, left.length) }, take)
}

/** Whether a test of its folder fails with it. */
function isNoticed({ folder, file }, text) {
  const args = ['run', '--config', 'test/mutants/vitest.config.ts', '--bail', '1', `test/${folder}/`]
  const vitest = spawn(process.execPath, [`${root}node_modules/vitest/vitest.mjs`, ...args], {
    cwd: root,
    env: { ...process.env, RALPH_MUTANT: JSON.stringify({ file, text }) },
    stdio: 'ignore',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  return new Promise((resolve, reject) => {
    vitest.once('error', reject)
    vitest.once('exit', (code) => resolve(code !== 0))
  })
}

const isWanted = ({ name }) =>
  values.at === undefined || name === values.at || name.startsWith(`${values.at}:`)
const all = mutantsOf(positionals.length > 0 ? positionals : FOLDERS).filter(isWanted)
const sample =
  values.at === undefined ? sampleOf(all, Number(values.count), randomFrom(Number(values.seed))) : all
let survivors = 0
for (const mutant of sample) {
  const text = changed(readFileSync(mutant.file, 'utf8'), mutant)
  const noticed = await isNoticed(mutant, text)
  if (!noticed) survivors++
  const line = text.split('\n')[Number(mutant.name.split(':').at(-1)) - 1].trim()
  say(
    `${noticed ? 'noticed ' : 'SURVIVED'}  ${mutant.name}  ${mutant.from.trim()} → ${mutant.to.trim()}   ${line}`,
  )
}
say(`${sample.length - survivors} of ${sample.length} noticed, of ${all.length} that there are`)
process.exitCode = survivors > 0 ? 1 : 0
