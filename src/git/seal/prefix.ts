import { randomBytes } from 'node:crypto'
import { UserError } from '../../base/errors.ts'
import type { Git } from '../git.ts'

const AT_ONCE = 32
const ROUNDS = 32

/** Picks digits with which no object of the repository begins, and which name no ref. */
export async function pickPrefix(
  git: Git,
  digits: number,
  candidates: (digits: number) => readonly string[] = randomPrefixes,
): Promise<string> {
  for (let round = 0; round < ROUNDS; round++) {
    const wanted = candidates(digits)
    const stdin = wanted.map((prefix) => `${prefix}\n`).join('')
    const { stdout } = await git.run(['cat-file', '--batch-check'], { stdin })
    const answers = new Set(stdout.toString().split('\n'))
    const free = wanted.find((prefix) => answers.has(`${prefix} missing`))
    if (free !== undefined) return free
  }
  throw new UserError(
    `no commit can be named by ${digits} digits here: all are taken`,
    'set commit.digits to a higher number, or commit.seal to false',
  )
}

/** Random prefixes that no YAML reader takes for a number: with a letter, and not like 12e4567. */
function randomPrefixes(digits: number): readonly string[] {
  const all = Array.from({ length: AT_ONCE }, () => randomBytes(4).toString('hex').slice(0, digits))
  return all.filter((prefix) => !/^\d+(?:e\d+)?$/.test(prefix))
}
