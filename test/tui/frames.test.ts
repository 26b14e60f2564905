import { describe, expect, it } from 'vitest'
import { framed } from '../ui/screen.ts'
import { openTui } from './harness.ts'
import { ENDED, TWO_JOBS } from './recorded.ts'

const SIZES = [
  [80, 24],
  [140, 40],
  [40, 12],
] as const

const golden = (name: string) => `golden/${name}.txt`
describe.each(SIZES)('at %i columns and %i rows', (columns, rows) => {
  const size = { columns, rows }
  const name = (what: string) => golden(`${what}-${columns}x${rows}`)

  it('shows a run of two jobs', async () => {
    const { terminal } = openTui({ ...size, events: TWO_JOBS })
    await expect(framed(await terminal.frame(), columns)).toMatchFileSnapshot(name('two-jobs'))
  })

  it('shows the task that is opened', async () => {
    const { terminal, press } = openTui({ ...size, events: TWO_JOBS })
    press('return')
    await expect(framed(await terminal.frame(), columns)).toMatchFileSnapshot(name('task'))
  })

  it('shows how the last run ended, to look through', async () => {
    const { terminal, press } = openTui({ ...size, events: ENDED, isAlive: false })
    press('down', 'down', 'down', 'return')
    await expect(framed(await terminal.frame(), columns)).toMatchFileSnapshot(name('ended'))
  })

  it('asks a question, and takes an answer in free words', async () => {
    const { terminal, press, type } = openTui({ ...size, events: TWO_JOBS })
    press('a')
    type('MIT, as ever')
    await expect(framed(await terminal.frame(), columns)).toMatchFileSnapshot(name('answer'))
    expect(await terminal.cursor()).toEqual({ column: 14, row: rows - 2 })
  })

  it('says which keys there are', async () => {
    const { terminal, press } = openTui({ ...size, events: TWO_JOBS, isOwn: true })
    press('return', '?')
    await expect(framed(await terminal.frame(), columns)).toMatchFileSnapshot(name('keys'))
  })
})

it('shows signs of ASCII where there are no others', async () => {
  const { terminal } = openTui({ columns: 140, rows: 20, events: TWO_JOBS, ascii: true })
  const frame = framed(await terminal.frame(), 0)
  await expect(frame).toMatchFileSnapshot(golden('ascii-140x20'))
  // What people have written stays as it is.
  const ofOurs = frame.replaceAll(/[┌┐└┘│]|為替|\n─?/g, '')
  expect(ofOurs).toMatch(/^[\x20-\x7e]*$/)
})

it('says that a run died, and what it was at', async () => {
  const { terminal, model, screen } = openTui({ columns: 100, rows: 16, events: TWO_JOBS, isAlive: false })
  model.isDead = true
  screen.changed()
  await expect.poll(async () => (await terminal.frame()).join('\n')).toContain('this run crashed')
  await expect(framed(await terminal.frame(), 100)).toMatchFileSnapshot(golden('died-100x16'))
})

it('colours what is alive and what is checked', async () => {
  const { terminal } = openTui({ columns: 140, rows: 20, events: TWO_JOBS, colour: true })
  await terminal.frame()
  await expect(
    terminal
      .written()
      .replaceAll('\u001b', '␛')
      .replaceAll(/(␛\[\d+;\d+H)/g, '\n$1'),
  ).toMatchFileSnapshot(golden('colour-140x20'))
})
