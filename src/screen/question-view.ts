import { bad, dim, paragraph, type Block } from './block.ts'

/** A question to a person, who answers with a number or a text. */
export function questionView(question: string, choices: readonly string[]): readonly Block[] {
  return [
    paragraph(['  ', bad('■'), '  '], question),
    {
      kind: 'hang',
      head: ['     '],
      words: [...choices.map((choice, at) => [`${at + 1} ${choice}`]), [dim('or your own words')]],
      gap: '   ',
    },
  ]
}
