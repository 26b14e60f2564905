import { whyOutside } from '../../../base/paths.ts'
import { nameAmong } from '../../../base/spelling.ts'
import { headingSpan, type Task } from '../../model.ts'
import { quote, spansInValue, suggestion, valueSpan } from '../place.ts'
import { type Finding, error, warning } from '../rule.ts'

/** Rules for fields that name files, agents, disciplines and features. */
export const NAME_RULES = {
  'outside-path': error((task, { context }) =>
    (['Touches', 'Context'] as const).flatMap((field) => {
      const paths = field === 'Touches' ? task.touches : task.context
      const wrong = paths.flatMap((path) => {
        const why = whyOutside(path, context.isOutside)
        return why === null ? [] : [{ path, message: `${quote(path)} ${why}` }]
      })
      const spans = spansInValue(
        task,
        field,
        wrong.map(({ path }) => path),
      )
      return wrong.map(({ message }, index) => ({ span: spans[index]!, message }))
    }),
  ),

  'unknown-agent': error((task, { context: { agents = [] } }) => {
    const name = task.agent
    if (name === null || agents.length === 0 || agents.includes(name)) return []
    const message = `Agent ${quote(name)} is none that ralph knows${suggestion(name, agents)}`
    return [{ span: valueSpan(task, 'Agent'), message }]
  }),

  'unknown-discipline': error((task, { context }) =>
    unknownName(task, 'Discipline', task.discipline, context.disciplines),
  ),

  'unknown-feature': error((task, { context }) =>
    unknownName(task, 'Feature', task.feature, context.features),
  ),

  'unknown-reviewer': warning((task, { context: { agents = [] } }) => {
    const name = task.review
    if (name === null || agents.length === 0 || agents.includes(name)) return []
    const message = `Review ${quote(name)} is no agent that ralph knows${suggestion(name, agents)}, and has no effect`
    return [{ span: valueSpan(task, 'Review'), message }]
  }),
}

/** Checks a field that names a file in a folder; finds nothing if the folder's names are not passed. */
function unknownName(
  task: Task,
  field: 'Discipline' | 'Feature',
  name: string | null,
  names: readonly string[] | undefined,
): readonly Finding[] {
  if (!names || name === null || nameAmong(names, name) !== undefined) return []
  const folder = `docs/${field.toLowerCase()}s`
  const message = `${field} ${quote(name)} has no file in ${folder}${suggestion(name, names)}`
  return [{ span: valueSpan(task, field), message }]
}

/** Rules for the id of a task, in its file's name and in its heading. */
export const ID_RULES = {
  'duplicate-id': error((task, { claims }) => {
    const rivals = claims.rivals.get(task.number) ?? []
    const other = rivals.find(({ file }) => file !== task.file)
    if (other === undefined) return []
    const more = rivals.length > 2 ? ` and ${rivals.length - 2} more` : ''
    return [{ span: headingSpan(task), message: `${task.id} is also the number of ${other.file}${more}` }]
  }),

  'id-width': warning((task, { usualId }) => {
    const usual = usualId(task)
    if (task.id === usual) return []
    return [{ span: headingSpan(task), message: `${task.id} would be ${usual} among the others` }]
  }),
}
