import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { openKeyboard, type KeyboardSystem } from '../../src/cli/keyboard.ts'
import type { Key } from '../../src/screen/full/keys.ts'
import { inPs, inStat } from '../../src/process/foreground.ts'

/** A keyboard on a terminal that notes how it is set. */
function keys(change: Partial<KeyboardSystem> = {}) {
  const did: string[] = []
  let goOn = (): void => undefined
  let stop = (): void => undefined
  const stream = new PassThrough()
  const input = Object.assign(stream, {
    isRaw: false,
    setRawMode(mode: boolean) {
      did.push(mode ? 'raw' : 'cooked')
      return input
    },
  }) as unknown as NodeJS.ReadStream
  const keyboard = openKeyboard(input, {
    interrupt: () => void did.push('interrupt'),
    suspend: () => void did.push('stopped'),
    quit: () => void did.push('quit'),
    onStop: (listener) => (stop = listener),
    onContinue: (listener) => (goOn = listener),
    isForeground: () => true,
    clock: () => 0,
    ...change,
  })
  const note = (name: string) => (key: Key) => void did.push(`${name}: ${key.name}`)
  const press = async (text: string): Promise<void> => {
    stream.write(text)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const since = (): readonly string[] => did.splice(0)
  return { keyboard, press, since, note, goOn: () => goOn(), stop: () => stop() }
}

describe('the keyboard', () => {
  it('reads nothing before somebody listens, and leaves the terminal as it was', async () => {
    const { keyboard, press, since, note } = keys()
    expect(since()).toEqual([])
    const end = keyboard.listen(note('a'))
    expect(since()).toEqual(['raw'])
    await press('p')
    expect(since()).toEqual(['a: p'])
    end()
    end()
    expect(since()).toEqual(['cooked'])
  })

  it('says what a key types, and what it is called', async () => {
    const { keyboard, press } = keys()
    const heard: Key[] = []
    keyboard.listen((key) => void heard.push(key))
    await press('P?漢\r')
    await press('\u001b[A')
    await press('\u0004')
    expect(heard.map(({ name, text }) => [name, text])).toEqual([
      ['p', 'P'],
      ['?', '?'],
      ['漢', '漢'],
      ['return', ''],
      ['up', ''],
      ['d', ''],
    ])
    expect(heard[0]).toMatchObject({ shift: true, ctrl: false })
    expect(heard.at(-1)).toMatchObject({ ctrl: true })
  })

  it('gives keys to the one who listens last, and back', async () => {
    const { keyboard, press, since, note } = keys()
    keyboard.listen(note('a'))
    const end = keyboard.listen(note('b'))
    await press('x')
    end()
    await press('y')
    expect(since()).toEqual(['raw', 'b: x', 'a: y'])
  })

  it('reads nothing while somebody else has the terminal', async () => {
    let now = 0
    const { keyboard, press, since, note } = keys({ clock: () => now })
    expect(keyboard.isLent()).toBe(false)
    keyboard.listen(note('a'))
    const [one, other] = [keyboard.pause(), keyboard.pause('program')]
    expect([since(), keyboard.isLent()]).toEqual([['raw', 'cooked'], true])
    other()
    // A Ctrl-C that the program has had may be heard of here after its end.
    expect([since(), keyboard.isLent()]).toEqual([[], true])
    now = 1000
    expect(keyboard.isLent()).toBe(false)
    one()
    await press('x')
    expect(since()).toEqual(['raw', 'a: x'])
  })

  it('has Ctrl-C and Ctrl-Z do what they always do, with the terminal as it was', async () => {
    const { keyboard, press, since, note, goOn } = keys()
    keyboard.listen(note('a'))
    since()
    await press('\u0003')
    expect(since()).toEqual(['interrupt'])
    await press('\u001a')
    expect(since()).toEqual(['a: suspend', 'cooked', 'stopped'])
    goOn()
    expect(since()).toEqual(['raw', 'a: resume'])
    await press('\u001c')
    expect(since()).toEqual(['a: suspend', 'cooked', 'quit'])
  })

  it('keeps away from the terminal in the background', () => {
    let isForeground = false
    const { keyboard, since, note, goOn } = keys({ isForeground: () => isForeground })
    keyboard.listen(note('a'))
    expect(since()).toEqual([])
    isForeground = true
    goOn()
    expect(since()).toEqual(['raw', 'a: resume'])
  })
})

describe('whether a program has its terminal to itself', () => {
  it.each([
    ['4 (a) b) S 1 77 70 34816 77 0', true],
    ['4 (node) S 1 77 70 34816 78 0', false],
    ['4 (node) S 1 77 70 0 -1 0', false],
    ['', false],
  ])('of what Linux says: %s', (stat, is) => expect(inStat(stat)).toBe(is))
  it.each([
    ['  77    77\n', true],
    ['  77    78\n', false],
    ['', false],
  ])('of what ps says: %j', (line, is) => expect(inPs(line)).toBe(is))
})
