import { usualBacklogs } from './bridges/formats.ts'
import { foreignTree } from './foreign-tree.ts'

/** The backlogs of other tools at their usual places, as `ralph import` accepts them; unreadable ones are left out. */
export function foreignBacklogs(root: string): readonly string[] {
  try {
    return usualBacklogs(foreignTree(root)).map(({ path }) => path)
  } catch {
    return []
  }
}
