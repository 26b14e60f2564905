import { nameAmong } from '../../base/spelling.ts'
import type { Task } from '../model.ts'
import { quote, suggestion, valueSpan } from './place.ts'
import type { Finding } from './rule.ts'

/** Checks a field that names a file in a folder; finds nothing if the folder's names are not passed. */
export function unknownName(
  field: 'Discipline' | 'Feature',
  folder: string,
  names: readonly string[] | undefined,
): (task: Task) => readonly Finding[] {
  if (!names) return () => []
  return (task) => {
    const name = field === 'Discipline' ? task.discipline : task.feature
    if (name === null || nameAmong(names, name) !== undefined) return []
    const message = `${field} ${quote(name)} has no file in ${folder}${suggestion(name, names)}`
    return [{ span: valueSpan(task, field), message }]
  }
}
