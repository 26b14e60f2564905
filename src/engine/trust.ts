import { readLog } from '../git/log.ts'
import { trailerValue } from '../git/trailers.ts'
import type { Home } from './slot/home.ts'

/**
 * The last commit that a person made on the first-parent line of a tip: one without ralph's trailers, or one in which a
 * person says that they trust what agents have written. What agents wrote since is not in force.
 */
export async function lastTrusted({ git }: Pick<Home, 'git'>, tip: string): Promise<string> {
  for (let skip = 0; ; skip += PAGE) {
    const options = ['--first-parent', `--max-count=${PAGE}`, `--skip=${skip}`]
    const entries = await readLog(git, { options, revisions: [tip] })
    const found = entries.find(({ trailers }) => {
      const isOfAgent = trailerValue(trailers, 'Task') !== null && trailerValue(trailers, 'Agent') !== null
      return !isOfAgent || trailerValue(trailers, 'Agent') === 'human'
    })
    if (found) return found.hash
    if (entries.length < PAGE) return tip
  }
}

const PAGE = 50
