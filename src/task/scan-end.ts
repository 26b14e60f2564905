import { scanInlineText } from './inline.ts'
import type { Status, TaskEnd } from './model.ts'
import { plainBlockScanner } from './plain-block.ts'
import { decoded, perVocabulary, plainWords } from './plain-words.ts'
import type { TaskBytes } from './task-text.ts'
import { isNone, numberOf } from './values.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** Reads how a task in the plainest style stands, and the commit that it names, over its bytes; null for any other style. */
export function scanEnd({ file, id, bytes }: TaskBytes, vocabulary: TaskVocabulary): TaskEnd | null {
  const blockOf = blockReader(vocabulary)
  const top = bytes.toString('latin1', 0, TOP)
  let block = blockOf(top, id)
  if (bytes.length > TOP && (block === null || block.end === top.length))
    block = blockOf(bytes.toString('latin1'), id)
  return block && { id, number: numberOf(id), file, status: block.status, commit: block.commit }
}

// Most blocks end before this, and nothing behind them is looked at.
const TOP = 768

interface EndBlock {
  readonly status: Status
  readonly commit: string | null
  /** Where the first section begins. */
  readonly end: number
}

const blockReader = perVocabulary((vocabulary) => {
  const words = plainWords(vocabulary)
  const scanBlock = plainBlockScanner(words, ({ name }) => name === 'Status' || name === 'Commit')
  return (source: string, id: string): EndBlock | null => {
    let status: Status | null = null
    let commit: string | null = null
    let isPlain = true
    const end = scanBlock(source, id, ({ name }, start, stop) => {
      const bytes = source.slice(start, stop)
      if (name === 'Status') {
        status = words.status(bytes)
        return
      }
      const value = scanInlineText(decoded(bytes).trim())
      if (value === null) isPlain = false
      else commit = value === '' || isNone(value) ? null : value
    })
    return end === null || status === null || !isPlain ? null : { status, commit, end }
  }
})
