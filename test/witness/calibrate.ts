import { execFileSync } from 'node:child_process'
import { compareTests, type FileVersions } from '../../src/engine/witness/compare.ts'
import { testSide } from '../../src/engine/witness/test-files.ts'

/*
 * Replays commits of people that change tests, and counts those that the witness would refuse:
 * npm run calibrate -- <which commits of each: 50, or 51-100> <git directory>...
 */

const [which = '50', ...repositories] = process.argv.slice(2)
const [first, last] = which.includes('-') ? which.split('-').map(Number) : [1, Number(which)]
const say = (line: string): boolean => process.stdout.write(`${line}\n`)
const isTestSide = testSide([])
let all = 0
let refused = 0
for (const repository of repositories) {
  const git = (...args: string[]): string =>
    execFileSync('git', ['--git-dir', repository, ...args], {
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString()
  const blob = (hash: string): string | null => (/^0+$/.test(hash) ? null : git('cat-file', 'blob', hash))
  const commits = git('log', '--no-merges', '--format=%H', '-n', '8000').split('\n').filter(Boolean)
  let [met, seen, bad, withNamed] = [0, 0, 0, 0]
  for (const commit of commits) {
    if (met >= last!) break
    const fields = git(
      'diff-tree',
      '-r',
      '--raw',
      '--no-renames',
      '--no-abbrev',
      '-z',
      '--no-commit-id',
      commit,
    ).split('\0')
    const changes = fields.flatMap((field, at) =>
      field.startsWith(':') ? [{ field, path: fields[at + 1]! }] : [],
    )
    // A commit that changes a test of the base, as far as its text is read.
    if (!changes.some(({ field, path }) => isTestSide(path) && !field.endsWith(' A')) || changes.length > 300)
      continue
    met++
    if (met < first!) continue
    const files: FileVersions[] = changes.flatMap(({ field, path }) => {
      const [before, after, was, is] = field.slice(1).split(' ')
      if (before === '160000' || after === '160000') return []
      return [{ path, was: blob(was!), is: blob(is!), isTestSide: isTestSide(path) }]
    })
    seen++
    const title = git('log', '-1', '--format=%s', commit).trim()
    const { weakened, named } = compareTests(files, title)
    if (named.length > 0) withNamed++
    if (weakened.length === 0) continue
    bad++
    say(`  ${commit.slice(0, 10)} ${title.slice(0, 80)}`)
    for (const { file, test, what } of weakened.slice(0, 4))
      say(`      ${what} ${file}: ${test.slice(0, 80)}`)
  }
  all += seen
  refused += bad
  say(
    `${repository.split('/').at(-2)}: ${bad} of ${seen} refused, ${withNamed} with tests that are only named`,
  )
}
say(`all: ${refused} of ${all} (${((100 * refused) / all).toFixed(1)} %)`)
