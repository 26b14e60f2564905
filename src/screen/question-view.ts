import { dim, accent, bad, paragraph, type Block, type Line } from './block.ts'

/** A question to a person, and its choices: they answer with a number or a text. */
export function questionView(question: string, choices: readonly string[]): readonly [Block, Block] {
  const words = choices.map((choice, at): Line => [accent(`${at + 1}`), ` ${choice}`])
  return [
    paragraph([bad('■'), ' '], question),
    { kind: 'hang', head: ['  '], words: [...words, [dim('or your own words')]], gap: '   ' },
  ]
}
