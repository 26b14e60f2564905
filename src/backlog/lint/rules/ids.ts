import { idOf } from '../../values.ts'
import { headingSpan } from '../place.ts'
import { error, warning } from '../rule.ts'

/** Rules for the id of a task, in its file's name and in its heading. */
export const ID_RULES = {
  'duplicate-id': error((task, { claims }) => {
    const rivals = claims.rivals.get(task.number) ?? []
    const other = rivals.find(({ file }) => file !== task.file)
    if (other === undefined) return []
    const more = rivals.length > 2 ? ` and ${rivals.length - 2} more` : ''
    return [{ span: headingSpan(task), message: `${task.id} is also the number of ${other.file}${more}` }]
  }),

  'id-width': warning((task, { idWidth }) => {
    const usual = idWidth === null ? task.id : idOf(task.number, idWidth)
    if (task.id === usual) return []
    return [{ span: headingSpan(task), message: `${task.id} would be ${usual} among the others` }]
  }),
}
