import type { Git } from './git.ts'

/** The contents of objects by name (`4b825dc:./docs/a.md`), in one process; null for one that is not there. */
export async function contentsOf(git: Git, names: readonly string[]): Promise<readonly (Buffer | null)[]> {
  // A line break in a name would be read as two names.
  const asked = names.filter((name) => !name.includes('\n'))
  if (asked.length === 0) return names.map(() => null)
  const { stdout } = await git.run(['cat-file', '--batch'], { stdin: `${asked.join('\n')}\n` })
  const found = new Map<string, Buffer | null>()
  let at = 0
  for (const name of asked) {
    const end = stdout.indexOf(10, at)
    const size = / blob (\d+)$/.exec(stdout.toString('latin1', at, end))?.[1]
    at = end + 1
    found.set(name, size === undefined ? null : stdout.subarray(at, at + Number(size)))
    if (size !== undefined) at += Number(size) + 1
  }
  return names.map((name) => found.get(name) ?? null)
}
