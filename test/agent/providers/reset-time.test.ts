import { expect, test } from 'vitest'
import { resetTime } from '../../../src/agents/providers/failure.ts'

const now = new Date(2026, 10, 18, 9, 0, 0)
const at = (day: number, hour: number, minute = 0, second = 0) =>
  new Date(2026, 10, day, hour, minute, second)

test.each<[string, Date | null]>([
  ['or try again at 10:33 AM.', at(18, 10, 33)],
  ['or try again at 8:15 AM.', at(19, 8, 15)],
  ['try again at 12:05 AM', at(19, 0, 5)],
  ['try again at 12:05 pm', at(18, 12, 5)],
  ['try again at Nov 20th, 2026 3:04 PM.', at(20, 15, 4)],
  ["You've hit your limit · resets 3pm", at(18, 15)],
  ['resets at 3:45pm (Europe/Paris)', at(18, 15, 45)],
  ['available until 14:30', at(18, 14, 30)],
  ['Try again in 2 days 3 hours 5 minutes.', at(20, 12, 5)],
  ['Your quota will reset after 3h12m5s.', at(18, 12, 12, 5)],
  ['Please retry in 34.5s.', new Date(now.getTime() + 34_500)],
  ['Please try again in 250ms.', new Date(now.getTime() + 250)],
  ['{"retryDelay":"34s"}', at(18, 9, 0, 34)],
  ['slow down (retry after 3600s)', at(18, 10)],
  ['try again in 1 hour and 5 minutes', at(18, 10, 5)],
  ['your limit of 50,000 tokens per minute', null],
  ['resets 3 times', null],
  ['until 99:99', null],
  ['', null],
])('"%s"', (message, expected) => {
  expect(resetTime(message, now)).toEqual(expected)
})
