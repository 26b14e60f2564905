import { fix } from '../../src/backlog/lint/fix.ts'
import type { LintContext } from '../../src/backlog/lint/rule.ts'
import type { Task } from '../../src/backlog/model.ts'
import { inOrder } from '../../src/backlog/order.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { taskVocabulary } from '../../src/backlog/vocabulary.ts'

/** Texts by file. */
export type Texts = Readonly<Record<string, string>>

/** The files that a fix changes, with their new texts. */
export async function fixTexts(texts: Texts, context: LintContext = {}): Promise<Texts> {
  const vocabulary = taskVocabulary(context.aliases)
  const current = new Map(Object.entries(texts))
  // Each text is parsed once: the parser takes far longer than the rules.
  const parsed = new Map<string, Promise<Task>>()
  const taskIn = (file: string, text: string): Promise<Task> => {
    const task = parsed.get(file + text) ?? parseTask({ file, text }, vocabulary)
    parsed.set(file + text, task)
    return task
  }
  const read = async () => inOrder(await Promise.all([...current].map(([file, text]) => taskIn(file, text))))
  const fixed = await fix(
    await read(),
    {
      read,
      rewrite: async (textOf) => {
        const tasks = await read()
        return tasks.flatMap((task) => {
          const text = textOf(task)
          if (text === null) return []
          current.set(task.file, text)
          return [task.file]
        })
      },
    },
    context,
  )
  return Object.fromEntries(fixed.map((file) => [file, current.get(file)!]))
}
