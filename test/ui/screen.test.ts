import { expect, it } from 'vitest'
import { openScreen } from './screen.ts'

it('shows what a terminal would, and keeps what scrolls away', async () => {
  const screen = openScreen(10, 3)
  screen.write('one\ntwo is longer\n\u001b]2;hello\u0007\u0007three')
  expect(await screen.frame()).toEqual(['two is lon', 'ger', 'three'])
  expect(await screen.scrolledAway()).toEqual(['one'])
  expect(await screen.allLines()).toEqual(['one', 'two is longer', 'three'])
  expect([screen.title(), screen.bells(), await screen.cursor()]).toEqual(['hello', 1, { column: 5, row: 2 }])
  await screen.resize(20, 3)
  expect(await screen.frame()).toEqual(['one', 'two is longer', 'three'])
})
