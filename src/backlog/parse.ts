import { BeyondReason } from './markdown/blocks.ts'
import { EMPTY_OUTLINE, interpret } from './interpret.ts'
import type { Task } from './model.ts'
import { loadParsers, type Parsers } from './reading.ts'
import { outlineWith, scanOutline } from './read-outline.ts'
import { TASK_VOCABULARY, type TaskVocabulary } from './vocabulary.ts'

/** A task file on disk. */
export interface TaskFile {
  /** Relative to the project root, with forward slashes. */
  readonly file: string
  readonly text: string
}

/** Reads one task file of any style. */
export async function parseTask(
  taskFile: TaskFile,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): Promise<Task> {
  const scanned = unlessBeyondReason(taskFile.file, () => scanTask(taskFile, vocabulary))
  return scanned ?? parseTaskWith(taskFile, vocabulary, await loadParsers())
}

/** Reads a task file in the ordinary style; null if it needs the parsers. */
function scanTask({ file, text }: TaskFile, vocabulary: TaskVocabulary): Task | null {
  const { source, bom } = withoutMark(text)
  const outline = scanOutline(source, vocabulary, null)
  return outline && interpret(file, source, bom, outline, vocabulary)
}

/** Reads a task file of any style with loaded parsers. If they fail, the task has that as its problem. */
export function parseTaskWith({ file, text }: TaskFile, vocabulary: TaskVocabulary, parsers: Parsers): Task {
  const { source, bom } = withoutMark(text)
  return unlessBeyondReason(file, () =>
    interpret(file, source, bom, outlineWith(source, vocabulary, parsers), vocabulary),
  )
}

/** The parser is recursive and rejects extreme nesting; one such file must not stop the others. */
function unlessBeyondReason<T extends Task | null>(file: string, read: () => T): T | Task {
  try {
    return read()
  } catch (error) {
    // A regular expression that runs out of stack throws a RangeError or, when compiled, a SyntaxError.
    if (error instanceof RangeError || error instanceof SyntaxError || error instanceof BeyondReason)
      return unreadableTask(file, error.message)
    throw error
  }
}

/** A task of which only the file name is known, and the reason. */
export function unreadableTask(file: string, message: string): Task {
  const problem: Task['problems'][number] = {
    kind: 'unreadable',
    field: null,
    message,
    span: { start: 0, end: 0 },
    line: 1,
  }
  return { ...interpret(file, '', false, EMPTY_OUTLINE, TASK_VOCABULARY), problems: [problem] }
}

function withoutMark(text: string): { source: string; bom: boolean } {
  const bom = text.charCodeAt(0) === 0xfeff
  return { source: bom ? text.slice(1) : text, bom }
}
