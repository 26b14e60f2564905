import { fieldOf, type FieldName, type Task } from './model.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** What a new task is to say. */
export interface NewTask {
  readonly id: string
  readonly title: string
  /** In the order of the format; what is empty is left out. */
  readonly fields: readonly (readonly [FieldName, string])[]
}

/** The text of a new task file, written as its neighbours are: their words, bullets, heading and line endings. */
export function newTaskText(
  { id, title, fields }: NewTask,
  neighbours: readonly Task[],
  vocabulary: TaskVocabulary,
): string {
  const nearest = neighbours.at(-1)
  const lines = [
    headingLike(nearest, id, title),
    '',
    ...fields
      .filter(([, value]) => value !== '')
      .map(([name, value]) => {
        const word = name === 'Status' ? statusWord(neighbours, vocabulary) : value
        return `${fieldHead(name, neighbours, vocabulary)}${word}`
      }),
    '',
    `## ${sectionWord('Description', neighbours, vocabulary)}`,
    '',
    '<!-- What to implement and why. -->',
    '',
    `## ${sectionWord('Acceptance Criteria', neighbours, vocabulary)}`,
    '',
    '- [ ] <!-- What can be checked when it is done. -->',
    '',
  ]
  return lines.join(nearest?.source.includes('\r\n') ? '\r\n' : '\n')
}

function headingLike(neighbour: Task | undefined, id: string, title: string): string {
  const heading = /^#[ \t]+((?:(?!T-\d)[^\s#]+[ \t]+)?)T-\d+([ \t]*[:：—–·-]?[ \t]*)\S/m.exec(
    neighbour?.source ?? '',
  )
  const [, before = '', between = ': '] = heading ?? []
  return `# ${before}${id}${between}${title}`
}

/** `- **Status**: ` as the nearest neighbour writes it; of forms that are not a list only the word is taken. */
function fieldHead(name: FieldName, neighbours: readonly Task[], { own }: TaskVocabulary): string {
  const used = neighbours.map((task) => fieldOf(task, name)?.key).findLast((key) => key !== undefined)
  const key = used ?? own.fields.get(name) ?? name
  const model = neighbours.findLast((task) => fieldOf(task, 'Status')?.form === 'item')
  const status = model && fieldOf(model, 'Status')
  if (!model || !status) return `- **${key}**: `
  const head = model.source.slice(status.span.start, status.valueSpan.start)
  const at = head.indexOf(status.key)
  // A value that is marked (`code`) begins after its mark: what stands there is no head to repeat.
  const isPlain = at >= 0 && /^[\s*_:：]*$/.test(head.slice(at + status.key.length))
  return isPlain ? head.slice(0, at) + key + head.slice(at + status.key.length) : `- **${key}**: `
}

function statusWord(neighbours: readonly Task[], { own }: TaskVocabulary): string {
  const neighbour = neighbours.findLast((task) => task.status === 'TODO')
  return (neighbour && fieldOf(neighbour, 'Status')?.value) ?? own.statuses.get('TODO') ?? 'TODO'
}

function sectionWord(
  name: 'Description' | 'Acceptance Criteria',
  neighbours: readonly Task[],
  { own }: TaskVocabulary,
): string {
  const used = neighbours.flatMap((task) =>
    task.sections
      .filter((section) => section.name === name && section.form === 'heading')
      .map(({ title }) => title),
  )
  return used.at(-1) ?? own.sections.get(name) ?? name
}
