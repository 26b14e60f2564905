import type { Git } from '../git/git.ts'
import { listRecords } from '../git/record.ts'
import { select } from '../backlog/select/selection.ts'
import { blockedReason } from '../backlog/select/why-not.ts'
import type { Facts } from '../backlog/model.ts'
import { readVersions, type BacklogPlace } from './backlog-versions.ts'
import { readCompletions } from './completions.ts'
import { periodOf } from './period.ts'

const FACTS = ['title', 'depends', 'milestone', 'commit', 'completed', 'cost'] as const

/** The backlog's place, and the template of the commits' subjects. */
interface ReportPlace extends BacklogPlace {
  readonly subject: string
}

/** What happened in a part of history, and the backlog at its end: the input of a report. */
export type ReportData = Awaited<ReturnType<typeof readReport>>

/** Reads the data of a report from git alone. */
export async function readReport(git: Git, since: string | undefined, place: ReportPlace) {
  const { vocabulary, subject } = place
  const period = await periodOf(git, since)
  const { stdout } = await git.run(['log', '-1', '--format=%H', '--no-show-signature', period.tip, '--'])
  const commit = stdout.toString().trim()
  const reading = readBacklog(git, commit, place)
  const [completions, records, { tasks, reasons }] = await Promise.all([
    readCompletions(git, { ...period.query, vocabulary, subject, tasks: reading.then(({ tasks }) => tasks) }),
    listRecords(git),
    reading,
  ])
  const { from, to } = period
  const attempts = records
    .filter(({ keptAt }) => (from === null || keptAt >= from) && (to === null || keptAt <= to))
    .toSorted((a, b) => a.keptAt - b.keptAt)
  return { period, commit, completions, attempts, selection: select(tasks), reasons }
}

/** The tasks of a commit, and why some are blocked, by id. */
async function readBacklog(git: Git, commit: string, place: BacklogPlace) {
  const versions = await readVersions(git, { text: '', from: commit, to: commit }, place)
  const factsIn = versions.reader(FACTS)
  const reasons = new Map<string, string>()
  const tasks: Facts<(typeof FACTS)[number]>[] = []
  for (const version of versions.after) {
    const { facts } = await factsIn(version)
    tasks.push(facts)
    if (facts.status === 'BLOCKED' || facts.held) {
      reasons.set(facts.id, blockedReason(await versions.read(version)))
    }
  }
  return { tasks, reasons }
}
