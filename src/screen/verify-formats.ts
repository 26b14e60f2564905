import type { Verification, VerifiedTask } from '../history/verify.ts'
import { githubCommand } from './lint-formats.ts'
import { markdownText } from './markdown-text.ts'
import { CUT_OFF, type CheckedTask, isShown, verifySummary, verifyWords } from './verify-view.ts'

/** The problems as workflow commands, which GitHub shows beside the run. */
export function verifyAnnotations(
  tasks: readonly VerifiedTask[],
  checked: readonly CheckedTask[] = [],
): string {
  const lines = tasks.filter(isShown).map((task) => {
    const [named = '', words = ''] = verifyWords(task)
    const isWrong = task.state === 'moved' || task.state === 'missing' || task.state === 'not-completing'
    return githubCommand(
      isWrong ? 'error' : 'warning',
      { title: 'ralph verify' },
      `${task.id}: ${named} ${words}`,
    )
  })
  const red = checked.flatMap(({ id, found, problem }) => {
    if (problem === null) return []
    return [
      githubCommand('error', { title: 'ralph verify' }, `${id}: ${found?.slice(0, 10) ?? ''} ${problem}`),
    ]
  })
  return [...lines, ...red].join('')
}

const MOST_ROWS = 100

/** The same as Markdown, for a job's summary. */
export function verifyMarkdown({
  tasks,
  isCutOff,
  checked = [],
}: Verification & { readonly checked?: readonly CheckedTask[] }): string {
  const wrong = tasks.filter(isShown)
  const rows = wrong.slice(0, MOST_ROWS).map((task) => {
    const [named = '', words = ''] = verifyWords(task)
    return `| **${task.id}** | ${markdownText(named)} | ${markdownText(words)} |`
  })
  return [
    '### Commits of tasks',
    '',
    tasks.length === 0 ? 'No task is DONE.' : verifySummary(tasks),
    ...(rows.length === 0 ? [] : ['', '| task | names | |', '|---|---|---|', ...rows]),
    ...(wrong.length > rows.length ? ['', `… and ${wrong.length - rows.length} more`] : []),
    ...redRows(checked),
    ...(isCutOff ? ['', CUT_OFF] : []),
    '',
  ].join('\n')
}

/** The commits whose gates do not pass. */
function redRows(checked: readonly CheckedTask[]): readonly string[] {
  if (checked.length === 0) return []
  const red = checked.filter(({ problem }) => problem !== null)
  const rows = red.slice(0, MOST_ROWS).map(({ id, found, problem }) => {
    return `| **${id}** | ${found?.slice(0, 10) ?? ''} | ${markdownText(problem ?? '')} |`
  })
  const table = rows.length === 0 ? [] : ['', '| task | commit | gates |', '|---|---|---|', ...rows]
  return ['', `${checked.length - red.length} of ${checked.length} green.`, ...table]
}
