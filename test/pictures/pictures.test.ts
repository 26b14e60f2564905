import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { BoardTask } from '../../src/screen/full/board.ts'
import { ralph } from '../cli/ralph.ts'
import { openTui } from '../tui/harness.ts'
import { BEGAN } from '../tui/recorded.ts'
import { liveRun } from '../ui/live-run.ts'
import { recordedRun } from '../ui/recorded.ts'
import { movingSvgOf, svgOf, type Moment } from './svg.ts'

// The pictures of README and docs are what the program shows; `npm run pictures` makes them anew.

const shop = fileURLToPath(new URL('../cli/fixtures/shop', import.meta.url))
const [COLUMNS, ROWS] = [100, 40]

const fileOf = (name: string): string => `../../docs/pictures/${name}.svg`

it('the next task, and why the others wait', async () => {
  const { stdout } = await ralph(['next', '--explain'], { cwd: shop, columns: COLUMNS })
  const picture = await svgOf(stdout, { title: 'ralph next --explain', columns: COLUMNS, rows: ROWS })
  await expect(picture).toMatchFileSnapshot(fileOf('next-explain'))
})

/** A night of two jobs, as its journal has it. */
const NIGHT = recordedRun('night')

/** The moments of the night in lines: one for each second in which something happened, the last one for longer. */
async function nightInLines(): Promise<readonly Moment[]> {
  const { play, pass, reporter, screen } = await liveRun(COLUMNS, ROWS, { colour: true })
  reporter.keys(['p pause', 's skip', 'q stop', 'd diff', 'l log', 'i take over', 'f full', '? keys'])
  const moments: Moment[] = []
  for (const [index, event] of NIGHT.entries()) {
    play([event])
    if (NIGHT[index + 1]?.at === event.at) continue
    pass(0.5)
    moments.push({ written: screen.written(), seconds: 0.6 })
  }
  pass(1.5)
  return [...moments, { written: screen.written(), seconds: 6 }]
}

it('a run in lines, as it moves and as it stands in the end', async () => {
  const picture = { title: 'ralph run --loop --jobs 2', columns: COLUMNS, rows: ROWS }
  const moments = await nightInLines()
  await expect(await movingSvgOf(moments, picture)).toMatchFileSnapshot(fileOf('run-moving'))
  await expect(await svgOf(moments.at(-1)!.written, picture)).toMatchFileSnapshot(fileOf('run'))
})

const task = (
  id: string,
  title: string,
  milestone: string,
  status: BoardTask['status'],
  waits = '',
): BoardTask => {
  return { id, title, milestone, status, waits, file: `docs/tasks/${id}.md` }
}

const TASKS = [
  task('T-001', 'Say how to work', '1 — Basket', 'DONE'),
  task('T-002', 'Add the cart', '1 — Basket', 'DONE'),
  task('T-003', 'Keep the cart for a week', '1 — Basket', 'DONE'),
  task('T-004', 'Store users', '2 — Accounts', 'DONE'),
  task('T-005', 'Keep sessions', '2 — Accounts', 'DONE'),
  task('T-006', 'Add the login form', '2 — Accounts', 'TODO'),
  task('T-007', 'Payments', '2 — Accounts', 'BLOCKED'),
  task('T-008', 'Reset a password', '2 — Accounts', 'TODO', 'T-006'),
  task('T-009', 'Round prices to cents', '3 — Money', 'DONE'),
  task('T-010', 'Show rates by day', '3 — Money', 'TODO'),
  task('T-011', 'Round taxes per line', '3 — Money', 'TODO', 'T-010'),
  task('T-012', 'Export to the books', '3 — Money', 'TODO', 'T-011'),
]

it('a run in the full screen', async () => {
  const size = { columns: 120, rows: 26 }
  const events = recordedRun('night', BEGAN)
  const seconds = (Date.parse(events.at(-1)!.at) - BEGAN) / 1000
  const { terminal, press } = openTui({
    ...size,
    events,
    tasks: TASKS,
    second: Math.ceil(seconds) + 2,
    isOwn: true,
    colour: true,
  })
  press('home', ...Array<string>(6).fill('down'))
  await terminal.frame()
  const picture = await svgOf(terminal.written(), { title: 'ralph watch', ...size })
  await expect(picture).toMatchFileSnapshot(fileOf('full-screen'))
})
