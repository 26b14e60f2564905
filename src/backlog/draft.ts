import { withEndings } from './markdown/splice.ts'
import { fieldOf, type FieldName, type SectionName, STATUSES, type Task } from './model.ts'
import { DESCRIPTION_HINT } from './template.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** The sections of a new task, in Markdown. */
export type NewTaskSections = readonly (readonly [SectionName, string])[]

/** The content of a new task. */
export interface NewTask {
  readonly id: string
  /** In Markdown. */
  readonly title: string
  /** In the order of the format; empty values are left out. */
  readonly fields: readonly (readonly [FieldName, string])[]
  /** Without these the file gets the usual sections, for the author to fill in. */
  readonly sections?: NewTaskSections
}

const TO_WRITE: NewTaskSections = [
  ['Description', DESCRIPTION_HINT],
  ['Acceptance Criteria', '- [ ] <!-- What can be checked when it is done. -->'],
]

/** Writes new task files in the style of their neighbours: vocabulary, bullets, heading and line endings. */
export function taskWriter(
  neighbours: readonly Task[],
  vocabulary: TaskVocabulary,
): (task: NewTask) => string {
  const nearest = neighbours.at(-1)
  const ending = nearest?.source.includes('\r\n') ? '\r\n' : '\n'
  const headOf = remembered((name: FieldName) => fieldHead(name, neighbours, vocabulary))
  const wordOf = remembered((name: SectionName) => sectionWord(name, neighbours, vocabulary))
  const statusOf = remembered((status: string) => statusWord(status, neighbours, vocabulary))
  return ({ id, title, fields, sections = TO_WRITE }) => {
    const lines = fields
      .filter(([, value]) => value !== '')
      .map(([name, value]) => headOf(name) + (name === 'Status' ? statusOf(value) : value))
    const bodies = sections.flatMap(([name, body]) => [`## ${wordOf(name)}`, '', body, ''])
    const text = [headingLike(nearest, id, title), '', ...lines, '', ...bodies].join('\n')
    return ending === '\n' ? text : withEndings(text, ending)
  }
}

function remembered<K, V>(find: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    const value = known.has(key) ? known.get(key)! : find(key)
    known.set(key, value)
    return value
  }
}

function headingLike(neighbour: Task | undefined, id: string, title: string): string {
  const heading = /^#[ \t]+((?:(?!T-\d)[^\s#]+[ \t]+)?)T-\d+([ \t]*[:：—–·-]?[ \t]*)\S/m.exec(
    neighbour?.source ?? '',
  )
  const [, before = '', between = ': '] = heading ?? []
  return `# ${before}${id}${between}${title}`
}

/** `- **Status**: ` as the nearest neighbour has it; if its fields are no list, only the word is taken. */
function fieldHead(name: FieldName, neighbours: readonly Task[], { own }: TaskVocabulary): string {
  const used = neighbours.map((task) => fieldOf(task, name)?.key).findLast((key) => key !== undefined)
  const key = used ?? own.fields.get(name) ?? name
  const model = neighbours.findLast((task) => fieldOf(task, 'Status')?.form === 'item')
  const status = model && fieldOf(model, 'Status')
  if (!model || !status) return `- **${key}**: `
  const head = model.source.slice(status.span.start, status.valueSpan.start)
  const at = head.indexOf(status.key)
  // A marked value (`code`) begins after its mark: the text before it cannot be copied.
  const isPlain = at >= 0 && /^[\s*_:：]*$/.test(head.slice(at + status.key.length))
  return isPlain ? head.slice(0, at) + key + head.slice(at + status.key.length) : `- **${key}**: `
}

function statusWord(named: string, neighbours: readonly Task[], { own }: TaskVocabulary): string {
  const status = STATUSES.find((known) => known === named) ?? 'TODO'
  const neighbour = neighbours.findLast((task) => task.status === status)
  return (neighbour && fieldOf(neighbour, 'Status')?.value) ?? own.statuses.get(status) ?? status
}

function sectionWord(name: SectionName, neighbours: readonly Task[], { own }: TaskVocabulary): string {
  const used = neighbours.flatMap((task) =>
    task.sections
      .filter((section) => section.name === name && section.form === 'heading')
      .map(({ title }) => title),
  )
  return used.at(-1) ?? own.sections.get(name) ?? name
}
