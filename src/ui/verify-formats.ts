import type { Verification, VerifiedTask } from '../history/verify.ts'
import { githubCommand } from './lint-formats.ts'
import { markdownText } from './markdown-text.ts'
import { CUT_OFF, isShown, verifySummary, verifyWords } from './verify-view.ts'

/** What is not as the files say, as workflow commands that GitHub shows beside the run. */
export function verifyAnnotations(tasks: readonly VerifiedTask[]): string {
  const lines = tasks.filter(isShown).map((task) => {
    const [named = '', words = ''] = verifyWords(task)
    const isWrong = task.state === 'moved' || task.state === 'missing' || task.state === 'not-completing'
    return githubCommand(
      isWrong ? 'error' : 'warning',
      { title: 'ralph verify' },
      `${task.id}: ${named} ${words}`,
    )
  })
  return lines.join('')
}

const MOST_ROWS = 100

/** The same as Markdown for a job's summary. */
export function verifyMarkdown({ tasks, isCutOff }: Verification): string {
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
    ...(isCutOff ? ['', CUT_OFF] : []),
    '',
  ].join('\n')
}
