import { VALUE_READERS } from './field-values.ts'
import type { Status, TaskEnd } from './model.ts'
import { plainBlockScanner } from './plain-block.ts'
import { perVocabulary, plainText, plainWords } from './plain-words.ts'
import type { TaskBytes } from './task-text.ts'
import { numberOf } from './values.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** Reads how a task in the plainest style stands, and the commit that it names, over its bytes; null for any other style. */
export function scanEnd(taskBytes: TaskBytes, vocabulary: TaskVocabulary): TaskEnd | null {
  const { words, scanBlock } = readersOf(vocabulary)
  const block = scanBlock(taskBytes)
  if (block === null) return null
  let status: Status | null = null
  let commit: string | null = null
  for (const [i, bytes] of block.values.entries()) {
    const name = block.fields[i]?.name
    if (bytes === undefined) continue
    if (name === 'Status') status = words.status(bytes)
    if (name !== 'Commit') continue
    const value = plainText(bytes)
    if (value === null) return null
    commit = VALUE_READERS.commit.read(value)
  }
  const { file, id } = taskBytes
  return status && { id, number: numberOf(id), file, status, commit }
}

const readersOf = perVocabulary((vocabulary) => {
  const words = plainWords(vocabulary)
  return { words, scanBlock: plainBlockScanner(words, ({ name }) => name === 'Status' || name === 'Commit') }
})
