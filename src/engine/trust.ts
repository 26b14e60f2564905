import type { Home } from './slot/home.ts'

/**
 * The last commit that a person made on the first-parent line of a tip: one without ralph's trailers. What agents wrote
 * since is not in force; a person's next commit, such as a merge or that of `ralph trust`, accepts it.
 */
export async function lastTrusted({ git }: Pick<Home, 'git'>, tip: string): Promise<string> {
  const args = ['log', '--first-parent', '--invert-grep', '--grep=^Task: ', '--max-count=1', '--format=%H']
  return (await git.run([...args, tip])).stdout.toString().trim() || tip
}
