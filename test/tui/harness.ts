import type { RunEvent } from '../../src/engine/events/event.ts'
import { line, type Block } from '../../src/screen/block.ts'
import type { BoardTask } from '../../src/screen/full/board.ts'
import { RunModel } from '../../src/screen/full/model.ts'
import { Screen, type ScreenPorts, type TerminalListener } from '../../src/screen/full/screen.ts'
import type { Steering, Key } from '../../src/screen/full/keys.ts'
import { onTestFinished } from 'vitest'
import { openScreen } from '../ui/screen.ts'
import { BEGAN, TASKS } from './recorded.ts'

/** How the screen of a test begins. */
interface Given {
  readonly columns: number
  readonly rows: number
  readonly events: readonly RunEvent[]
  readonly tasks?: readonly BoardTask[]
  /** How many seconds the run has lasted. */
  readonly second?: number
  readonly isAlive?: boolean
  readonly isOwn?: boolean
  readonly colour?: boolean
  readonly ascii?: boolean
  readonly material?: ScreenPorts['material']
}

/** A full screen on a terminal that nobody sits at; it is closed when the test is over. */
export function openTui({
  columns,
  rows,
  events,
  tasks = TASKS,
  second = 105,
  isAlive = true,
  isOwn = false,
  colour = false,
  ascii = false,
  material = async (task, tab): Promise<readonly Block[]> => [line(`${tab} of ${task.id}`)],
}: Given) {
  const terminal = openScreen(columns, rows)
  const model = new RunModel()
  for (const event of events) model.event(event)
  const size = { columns, rows }
  const steered: Steering[] = []
  const opened: string[] = []
  const state = { second, tasks, isAlive }
  let listener: TerminalListener | null = null
  let leave = ''
  const screen = new Screen({
    terminal: {
      size: () => size,
      write: (text) => terminal.write(text),
      open(heard, texts) {
        listener = heard
        leave = texts.leave
        terminal.write(texts.enter)
      },
      close() {
        listener = null
        terminal.write(leave)
      },
      focus: () => undefined,
      lend: (work) => work(),
    },
    look: { colour, ascii },
    now: () => new Date(BEGAN + state.second * 1000),
    model,
    board: () => state.tasks,
    project: 'shop',
    liveness: () => ({ isAlive: state.isAlive, isOwn }),
    steer: async (steering) => {
      steered.push(steering)
      return `the run is asked to ${steering.do}`
    },
    material,
    open: async (what, task) => {
      opened.push(`${what} ${task.id}`)
      return ''
    },
    tick: () => undefined,
  })
  const shown = screen.show()
  onTestFinished(() => screen.close())
  return {
    screen,
    shown,
    terminal,
    model,
    steered,
    opened,
    state,
    changeTasks: (next: readonly BoardTask[]) => {
      state.tasks = next
      screen.changed()
    },
    press: (...names: readonly (string | Partial<Key>)[]) => {
      for (const name of names) {
        const key = typeof name === 'string' ? { name, text: name.length === 1 ? name : '' } : name
        listener?.key({ name: '', text: '', ctrl: false, shift: false, ...key })
      }
    },
    type: (text: string) => {
      for (const text1 of text) listener?.key({ name: text1, text: text1, ctrl: false, shift: false })
    },
    resize: async (to: number, height: number) => {
      Object.assign(size, { columns: to, rows: height })
      await terminal.resize(to, height)
      listener?.spoilt()
    },
  }
}
