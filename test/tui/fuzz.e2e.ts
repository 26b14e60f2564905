import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { git } from '../repository.ts'
import { repository } from '../cli/script-repository.ts'
import { hasTmux, openTmux } from './tmux.ts'

const TIMES = Number(process.env['RALPH_SCREENS'] ?? 10)
const KEYS = [
  'Up',
  'Down',
  'Left',
  'Right',
  'Enter',
  'Escape',
  'Tab',
  'BTab',
  'PgUp',
  'PgDn',
  'Home',
  'End',
  'BSpace',
]
const TYPED = ['/', 'p', 's', 'r', 'a', 'd', 'l', 'n', 'e', 'f', 'q', '?', '1', '2', 'x', 'ü', '漢']
const SIZES: readonly (readonly [number, number])[] = [
  [80, 24],
  [140, 40],
  [40, 12],
  [100, 8],
  [20, 5],
]

/** Numbers that are the same for the same seed. */
function numbersOf(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1
  return (below) => {
    state = (state * 1664525 + 1013904223) % 2 ** 32
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Tasks that take a moment each, one of which fails and is asked about. */
const project = () =>
  repository(
    {
      'T-001': 'for i in 1 2 3 4 5; do echo step $i; sleep 0.2; done; echo x > one',
      'T-002': 'printf "\\033[2J\\033[1;1Hout of its pane\\n"; sleep 0.3; echo x > two',
      'T-003': 'sleep 0.2; exit 3',
      'T-004': 'for i in 1 2 3; do seq 1 2000; sleep 0.2; done; echo x > four',
    },
    { agent: 'script', gates: [{ name: 'test', command: 'sleep 0.2' }] },
  )

test.skipIf(!hasTmux)(
  'whatever is pressed, the terminal is restored, and each task has landed or is on record',
  async () => {
    const first = Number(process.env['RALPH_SEED'] ?? Math.floor(Math.random() * 1e6))
    for (let seed = first; seed < first + TIMES; seed++) {
      try {
        await once(seed)
      } catch (error) {
        throw new Error(`RALPH_SEED=${seed} RALPH_SCREENS=1`, { cause: error })
      }
    }
  },
)

async function once(seed: number): Promise<void> {
  const below = numbersOf(seed)
  const cwd = project()
  const terminal = openTmux(cwd, { rows: 30 })
  const args = below(2) === 0 ? ['--tui'] : []
  const jobs = below(2) === 0 ? ['--jobs', '2'] : []
  terminal.ralph('run', '--loop', '--retries', '1', ...args, ...jobs)
  const until = performance.now() + 20_000
  while (performance.now() < until && !terminal.hasEnded()) {
    const what = below(20)
    if (what === 0) terminal.resize(...SIZES[below(SIZES.length)]!)
    else if (what < 8) terminal.press(KEYS[below(KEYS.length)]!)
    else terminal.type(TYPED[below(TYPED.length)]!)
    await wait(below(60))
  }
  await leave(terminal)
  expect(terminal.isAlternate()).toBe(false)
  await expect.poll(terminal.isCooked).toBe(true)
  expect(terminal.history()).not.toMatch(/^error:/m)
  // Of the screen nothing is left among the lines.
  expect(terminal.history()).not.toMatch(/┌ Tasks|\[activity\]/)
  expect(git(cwd, 'status', '--short', '--', 'docs', 'one', 'two', 'four')).toBe('')
  for (const id of ['T-001', 'T-002', 'T-003', 'T-004']) {
    const text = readFileSync(join(cwd, `docs/tasks/${id}.md`), 'utf8')
    const commits = git(cwd, 'log', '--format=%s', `--grep=^${id}: Do`).split('\n').filter(Boolean)
    expect(commits, id).toHaveLength(/Status\*\*: DONE/.test(text) ? 1 : 0)
  }
}

/** Goes out of whatever is open, and ends the run where it still goes on. */
async function leave(terminal: ReturnType<typeof openTmux>): Promise<void> {
  for (let times = 0; times < 100; times++) {
    if (terminal.hasEnded()) return
    terminal.press(times % 5 === 4 ? 'Escape' : 'C-c')
    await wait(300)
  }
  throw new Error(`it does not end:\n${terminal.screen()}`)
}
