import { appendFileSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { followLines, openSignalFolder } from '../../src/agents/signal/folder.ts'
import { readReply, readSignal, type Signal } from '../../src/agents/signal/signal.ts'
import { makeFolder } from '../repository.ts'

describe('a line', () => {
  it('is a signal or is refused, whatever it says', () => {
    const almost = fc.record(
      {
        id: fc.oneof(fc.string(), fc.uuid()),
        token: fc.oneof(fc.constant('token'), fc.string(), fc.integer()),
        signal: fc.constantFrom('done', 'ask', 'add_task', 'withdrawn', 'run', '__proto__', 7),
        input: fc.oneof(fc.jsonValue(), fc.record({ summary: fc.string(), question: fc.string() })),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          almost.map((value) => JSON.stringify(value)),
        ),
        (line) => {
          const read = readSignal(line, 'token')
          if ('wrong' in read) expect(read.wrong).not.toBe('')
          else expect(read.said.id).toMatch(/^[\w-]{1,64}$/)
          readReply(line)
        },
      ),
    )
  })
})

describe('a file of lines', () => {
  it('is read in whole lines, however they come, to the last', () => {
    const file = join(makeFolder(), 'lines')
    writeFileSync(file, 'one\ntw')
    const lines: string[] = []
    const end = followLines(file, (line) => lines.push(line))
    expect(lines).toEqual(['one'])
    appendFileSync(file, Buffer.from('o\nthré').subarray(0, -1))
    appendFileSync(file, Buffer.from('é').subarray(1))
    appendFileSync(file, 'e\nunfinished')
    end()
    expect(lines).toEqual(['one', 'two', 'thrée'])
  })
})

describe('the folder of an attempt', () => {
  const open = (path: string) => {
    const [said, refused]: [Signal[], string[]] = [[], []]
    const opened = openSignalFolder(path, [], {
      said: (signal) => signal.signal !== 'withdrawn' && said.push(signal),
      refused: (why) => refused.push(why),
    })
    const line = (id: string, token = opened.env['RALPH_SIGNAL_TOKEN']) =>
      appendFileSync(
        join(path, 'said.ndjson'),
        `${JSON.stringify({ id, token, signal: 'progress', input: { note: id } })}\n`,
      )
    return { opened, said, refused, line }
  }

  it('hands over its signals, also the one that came just before its end', () => {
    const path = makeFolder()
    const { opened, said, refused, line } = open(path)
    line('a')
    line('b', 'another')
    opened.close()
    expect(said.map(({ id }) => id)).toEqual(['a'])
    expect(refused).toEqual(['it is of another attempt'])
    expect(() => readdirSync(path)).toThrow('ENOENT')
  })

  it('reads and writes the files that it has made, whatever an agent puts in their place', () => {
    const path = makeFolder()
    const elsewhere = join(makeFolder(), 'elsewhere')
    writeFileSync(elsewhere, '')
    const { opened, said, line } = open(path)
    line('a')
    for (const name of ['said.ndjson', 'replies.ndjson']) {
      rmSync(join(path, name))
      symlinkSync(elsewhere, join(path, name))
    }
    line('b')
    opened.reply({ id: 'a', ok: true, text: 'x' })
    opened.close()
    expect(said.map(({ id }) => id)).toEqual(['a'])
    // What the agent itself has written there, and nothing of ralph's.
    expect(readFileSync(elsewhere, 'utf8').trim().split('\n')).toHaveLength(1)
  })
})
