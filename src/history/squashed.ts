import type { LogEntry } from '../git/log.ts'
import { trailerValue, type Trailer } from '../git/trailers.ts'

/**
 * The completions in the message of a squashed commit; none for other commits. Each begins with its subject, as a
 * forge lists it (`* T-004: Add it`) or as `git merge --squash` does (indented, below a head), and ends with its
 * trailers, of which git recognises at most the last.
 */
export function squashedIn(entry: LogEntry): readonly LogEntry[] {
  const own = trailerValue(entry.trailers, 'Task')
  // A completion has its task in its subject. Text quoted in its notes is no completion.
  if (own !== null && entry.subject.includes(own)) return []
  const parts: LogEntry[] = []
  let paragraphs: string[] = []
  for (const paragraph of paragraphsOf(entry)) {
    const trailers = completionTrailers(paragraph)
    if (trailers) {
      const id = trailerValue(trailers, 'Task') ?? ''
      parts.push({ ...entry, ...wordsOf(paragraphs, id), trailers })
      paragraphs = []
    } else paragraphs.push(paragraph)
  }
  return parts
}

function paragraphsOf({ body, trailers }: LogEntry): readonly string[] {
  const last = trailers.map(({ key, value }) => `${key}: ${value}`).join('\n')
  return [...body.split(/\n[ \t]*\n/), last].map((text) => text.replaceAll(/^ {4}/gm, '').trim())
}

/** Only ralph's own trailers: each line of the paragraph has one of its keys. */
function completionTrailers(paragraph: string): readonly Trailer[] | null {
  const trailers: Trailer[] = []
  for (const line of paragraph.split('\n')) {
    const [, key, value] = /^([A-Za-z][A-Za-z0-9-]*): (.*)$/.exec(line) ?? []
    if (key === undefined || value === undefined) return null
    trailers.push({ key, value: value.trim() })
  }
  return trailerValue(trailers, 'Task') !== null && hasNumbers(trailers) ? trailers : null
}

/** Whether it has the trailers that every completion has, and nothing else has. */
export function hasNumbers(trailers: readonly Trailer[]): boolean {
  return trailerValue(trailers, 'Tier') !== null && trailerValue(trailers, 'Attempts') !== null
}

/** The text above the trailers: perhaps git's head, then a line that names the task, then notes. */
function wordsOf(paragraphs: readonly string[], id: string): Pick<LogEntry, 'subject' | 'body'> {
  const at = paragraphs.findIndex((text) => text.includes(id) && !text.includes('\n'))
  const subject = at < 0 ? id : (paragraphs[at] ?? id).replace(/^\* /, '')
  return {
    subject,
    body: paragraphs
      .slice(at + 1)
      .filter(Boolean)
      .join('\n\n'),
  }
}
