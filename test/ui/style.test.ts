import { describe, expect, it } from 'vitest'
import { wantsColour } from '../../src/screen/style.ts'

describe('colour', () => {
  it.each([
    ['in a terminal', {}, true, false, true],
    ['in a pipe', {}, false, false, false],
    ['with NO_COLOR in a terminal', { NO_COLOR: '1' }, true, false, false],
    ['with an empty NO_COLOR', { NO_COLOR: '' }, true, false, true],
    ['with FORCE_COLOR in a pipe', { FORCE_COLOR: '1' }, false, false, true],
    ['with FORCE_COLOR=0 in a terminal', { FORCE_COLOR: '0' }, true, false, false],
    ['with --no-color, whatever FORCE_COLOR says', { FORCE_COLOR: '1' }, true, true, false],
    ['in a dumb terminal', { TERM: 'dumb' }, true, false, false],
  ])('%s', (_, env, isTerminal, noColor, wanted) => {
    expect(wantsColour({ env, isTerminal, noColor })).toBe(wanted)
  })
})
