import { expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { openTerminal } from '../../src/cli/terminal.ts'
import type { Key } from '../../src/screen/full/keys.ts'

const plain = { ctrl: false, shift: false, text: '' }

/** A terminal over a keyboard and an outlet that write down what is done to them. */
function opened() {
  const done: string[] = []
  const listeners: ((key: Key) => void)[] = []
  const exits = new Set<() => void>()
  const io = {
    keyboard: () => ({
      listen: (onKey: (key: Key) => void) => {
        listeners.push(onKey)
        return () => void listeners.splice(listeners.lastIndexOf(onKey), 1)
      },
      pause: (to?: string) => {
        done.push(`lends to ${to}`)
        return () => void done.push('has it back')
      },
    }),
    stdout: {
      columns: 80,
      rows: 24,
      write: (text: string) => done.push(text),
      onResize: () => () => undefined,
    },
    env: { TERM: 'xterm' },
    atExit: (work: () => void) => {
      exits.add(work)
      return () => exits.delete(work)
    },
  } as unknown as Io
  const terminal = openTerminal(io)!
  terminal.open(
    {
      key: ({ name, text }) => done.push(text === '' ? name : `${name} types ${text}`),
      spoilt: () => done.push('spoilt'),
    },
    { enter: 'ENTER', leave: 'LEAVE' },
  )
  return {
    terminal,
    listeners,
    press: (...keys: readonly Partial<Key>[]) => {
      for (const key of keys) listeners.at(-1)?.({ name: '', ...plain, ...key })
    },
    exit: () => exits.forEach((work) => work()),
    take: () => done.splice(0),
  }
}

it('leaves the screen once, however the process ends', () => {
  const { terminal, exit, take } = opened()
  expect(take()).toEqual(['ENTER'])
  terminal.write('a frame')
  exit()
  expect(take()).toEqual(['a frame', 'LEAVE'])
  terminal.write('too late')
  terminal.close()
  exit()
  expect(take()).toEqual([])
})

it('leaves it before the program stops, and comes back after', () => {
  const { press, take } = opened()
  take()
  press({ name: 'suspend' })
  expect(take()).toEqual(['LEAVE'])
  press({ name: 'resume' })
  expect(take()).toEqual(['ENTER', 'spoilt'])
})

it('lends it to a program, and does not come back before that has ended', async () => {
  const { terminal, press, take } = opened()
  take()
  const said = await terminal.lend(async () => {
    press({ name: 'resume' })
    terminal.write('not now')
    return 'read'
  })
  expect(said).toBe('read')
  expect(take()).toEqual(['LEAVE', 'lends to program', 'has it back', 'ENTER', 'spoilt'])
  await terminal.lend(async () => terminal.close())
  expect(take()).toEqual(['LEAVE', 'lends to program', 'has it back'])
})

it('names keys by what they type, and hears again when somebody else had begun to', () => {
  const { terminal, press, take, listeners } = opened()
  take()
  press(
    { name: 'space', text: ' ' },
    { name: 'q', text: 'Q', shift: true },
    { name: 'enter' },
    { name: '', text: '漢' },
  )
  expect(take()).toEqual(['  types  ', 'Q types Q', 'return', '漢 types 漢'])
  // What is typed at once after an Escape looks like Alt.
  press({ name: 'p' })
  expect(take()).toEqual(['escape', 'p types p'])
  listeners.push(() => undefined)
  press({ name: 'up' })
  expect(take()).toEqual([])
  terminal.focus()
  press({ name: 'up' })
  expect(take()).toEqual(['up'])
})

it('takes what is pasted as one text, in which no line ends', () => {
  const { press, take } = opened()
  take()
  press(
    { name: 'paste-start' },
    { name: 'a', text: 'a' },
    { name: 'return' },
    { name: 'q', text: 'q' },
    { name: 'paste-end' },
  )
  expect(take()).toEqual(['paste types a q'])
})
