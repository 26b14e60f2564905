import type { Task } from './model.ts'

/** The default subject of a task's commit. */
const USUAL = '{id}: {title}'

/** Fills in the template from the configuration; unknown slots stay. */
export function subjectOf(template: string, task: Pick<Task, 'id' | 'title' | 'milestone'>): string {
  const slots: Record<string, string> = { id: task.id, title: task.title, milestone: task.milestone ?? '' }
  return template.replaceAll(/\{(\w+)\}/g, (slot, name: string) => slots[name] ?? slot)
}

/** The title in a commit's subject; the whole subject if neither the template nor the default matches. */
export function titleIn(subject: string, id: string, template: string = USUAL): string {
  for (const made of [template, USUAL]) {
    const title = patternOf(made, id).exec(subject)?.[1]
    if (title) return title
  }
  return subject
}

function patternOf(template: string, id: string): RegExp {
  const slots: Record<string, string> = { '{id}': id, '{title}': '(.+)', '{milestone}': '.*' }
  const parts = template.split(/(\{\w+\})/).map((part) => slots[part] ?? escaped(part))
  return new RegExp(`^${parts.join('')}$`)
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
