import * as fc from 'fast-check'

/** What an attacker of a fence would write, and what everybody writes. */
export const hostileText = fc
  .array(
    fc.constantFrom(
      '`',
      '```',
      '````',
      '~~~',
      '~~~~~~~~~',
      '`'.repeat(12),
      '\n',
      '\r\n',
      '\r',
      ' ',
      '    ',
      '\t',
      '# H',
      '## H',
      '<!--',
      '-->',
      '- ',
      '> ',
      '</file>',
      'word',
      '\u2028',
      '\u0000',
      '\ud83d',
      '한글',
      '|---|',
      '===',
      '---',
      '<div>',
      '{{task}}',
      '<TASK_DONE>',
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''))
