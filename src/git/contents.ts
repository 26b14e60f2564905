import type { Git } from './git.ts'

/** The contents of files by name (`4b825dc:./docs/a.md`), in a process or two; without those that are not there. */
export async function contentsOf(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  // A line break in a name would be read as two names.
  const asked = [...new Set(names)].filter((name) => !name.includes('\n'))
  const middle = asked.length > MANY ? Math.ceil(asked.length / 2) : asked.length
  const found = new Map<string, Buffer>()
  await Promise.all([readInto(found, git, asked.slice(0, middle)), readInto(found, git, asked.slice(middle))])
  return found
}

// To find a path in a commit takes git a while, and there is mostly a second core.
const MANY = 200

async function readInto(found: Map<string, Buffer>, git: Git, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const { stdout } = await git.run(['cat-file', '--batch', '--buffer'], { stdin: `${names.join('\n')}\n` })
  let at = 0
  for (const name of names) {
    const end = stdout.indexOf('\n', at)
    const [, type, size] = / (\w+) (\d+)$/.exec(stdout.toString('latin1', at, end)) ?? []
    at = end + 1
    if (size === undefined) continue
    // A folder may have had the name.
    if (type === 'blob') found.set(name, stdout.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
}
