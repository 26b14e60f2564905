import type { Git } from './git.ts'

/** The contents of objects by name (`4b825dc:./docs/a.md`), in a process or two; null for one that is not there. */
export async function contentsOf(git: Git, names: readonly string[]): Promise<readonly (Buffer | null)[]> {
  // A line break in a name would be read as two names.
  const asked = [...new Set(names)].filter((name) => !name.includes('\n'))
  const middle = asked.length > MANY ? asked.length / 2 : asked.length
  const halves = await Promise.all([read(git, asked.slice(0, middle)), read(git, asked.slice(middle))])
  return names.map((name) => halves[0].get(name) ?? halves[1].get(name) ?? null)
}

// To find a path in a commit takes git a while, and there is mostly a second core.
const MANY = 200

async function read(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>()
  if (names.length === 0) return found
  const { stdout } = await git.run(['cat-file', '--batch', '--buffer'], { stdin: `${names.join('\n')}\n` })
  let at = 0
  for (const name of names) {
    const end = stdout.indexOf(10, at)
    const size = / blob (\d+)$/.exec(stdout.toString('latin1', at, end))?.[1]
    at = end + 1
    if (size === undefined) continue
    found.set(name, stdout.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return found
}
