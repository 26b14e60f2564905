import { usualBacklogs } from '../bridge/formats.ts'
import { foreignTree } from './foreign-tree.ts'

/** The backlogs of other tools that stand where these keep them, as `ralph import` takes them; what cannot be read is none. */
export function foreignBacklogs(root: string): readonly string[] {
  try {
    return usualBacklogs(foreignTree(root)).map(({ path }) => path)
  } catch {
    return []
  }
}
