import { literal } from './commit.ts'
import type { Git } from './git.ts'

/** What HEAD names and what is not committed, from one `git status`. */
interface TreeStatus {
  /** Null before the first commit. */
  readonly head: string | null
  /** The branch's short name; null when HEAD is detached. */
  readonly branch: string | null
  readonly entries: readonly StatusEntry[]
}

/** One path that differs from HEAD. Paths are relative to the repository's top, with forward slashes. */
interface StatusEntry {
  readonly path: string
  /** The former path of a renamed file. */
  readonly from: string | null
  readonly isUntracked: boolean
}

/** How many columns stand before the path, by the first character of a line. */
const COLUMNS: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 }

/** Reads the checkout's status, or that of some files; ignored files are left out, untracked ones are listed one by one. */
export async function readStatus(git: Git, files: readonly string[] = []): Promise<TreeStatus> {
  const args = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all']
  // git reads a submodule with another git process, to which this one's settings do not apply.
  const ignored = `--ignore-submodules=${git.isReading ? 'dirty' : 'none'}`
  const { stdout } = await git.run([...args, ignored, '--', ...files.map(literal)])
  const records = stdout.toString().split('\0')
  const header = (name: string): string => {
    const start = `# branch.${name} `
    return records.find((record) => record.startsWith(start))?.slice(start.length) ?? ''
  }
  const [head, branch] = [header('oid'), header('head')]
  return {
    head: head === '(initial)' ? null : head,
    branch: branch === '(detached)' ? null : branch,
    entries: entriesIn(records),
  }
}

function entriesIn(records: readonly string[]): readonly StatusEntry[] {
  const entries: StatusEntry[] = []
  for (let at = 0; at < records.length; at++) {
    const record = records[at]!
    const columns = COLUMNS[record[0] ?? '']
    if (columns === undefined) continue
    // git lists an untracked folder by its files, unless it is a repository.
    const path = afterColumns(record, columns).replace(/\/$/, '')
    const from = record.startsWith('2') ? (records[++at] ?? null) : null
    entries.push({ path, from, isUntracked: record.startsWith('?') })
  }
  return entries
}

/** The text after that number of space-separated columns: a path may contain spaces. */
function afterColumns(record: string, columns: number): string {
  let at = 0
  for (let i = 0; i < columns; i++) at = record.indexOf(' ', at) + 1
  return record.slice(at)
}
