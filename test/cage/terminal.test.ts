import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openPty } from '../../src/process/terminal.ts'
import { available, Ground } from './here.ts'

const ground = available.ok ? new Ground() : null
afterAll(() => ground?.remove())

/** Puts a line into the input of its terminal, as if the person had typed it. */
const PUSH =
  'python3 -c "import fcntl,sys,termios; [fcntl.ioctl(0, termios.TIOCSTI, bytes([c])) for c in b\'pushed\']"'

describe.skipIf(ground === null)('a program in a cage and at a terminal', () => {
  test('has Ctrl-C, changes of size and its exit code, and is caged all the same', async () => {
    const pty = await openPty({ columns: 80, rows: 24 })
    if ('problem' in pty) throw new Error(pty.problem)
    const steps: readonly (readonly [string, () => void])[] = [
      ['ready', () => pty.stream.write('\u0003')],
      ['interrupted', () => pty.resize({ columns: 70, rows: 20 })],
      ['20 70', () => pty.stream.write('go\r')],
    ]
    let step = 0
    const { end, output } = await ground!.run(
      `trap 'echo interrupted' INT; trap 'stty size' WINCH; echo ready
      until read -r line && [ "$line" = go ]; do :; done
      echo x >../outside; cat ~/.ssh/id_rsa; ${PUSH} && echo pushed it; exit 7`,
      {
        terminal: pty,
        onPrinted(printed) {
          const next = steps[step]
          if (!next || !printed.includes(next[0])) return
          step++
          next[1]()
        },
      },
    )
    expect(step).toBe(steps.length)
    expect(end).toMatchObject({ kind: 'exited', code: 7, survivors: [] })
    expect(output).not.toContain('SECRET')
    expect(output).not.toContain('pushed it')
    expect(existsSync(join(ground!.top, '../outside'))).toBe(false)
  })
})
