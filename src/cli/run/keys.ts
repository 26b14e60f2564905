import { messageOf } from '../../base/errors.ts'
import type { RunEvent, StopMode } from '../../engine/events/event.ts'
import type { Control } from '../../engine/control.ts'
import { accent, dim, paragraph, type Block } from '../../screen/block.ts'
import { type Key, keyWords } from '../../screen/full/keys.ts'
import type { Lend } from '../../screen/full/screen.ts'
import type { RunReporter } from '../../screen/run-reporter.ts'
import type { Keyboard } from '../keyboard.ts'

/** What the keys of a run use. */
export interface KeyDesk {
  readonly keyboard: Keyboard
  readonly reporter: Pick<RunReporter, 'status' | 'keys' | 'overlay' | 'hold' | 'redraw' | 'refresh'>
  /** The control that commands in another terminal use too. */
  readonly control: Control
  /** Shows the code or the log of a task in the person's pager; returns why it cannot. */
  readonly open: (what: 'diff' | 'log', id: string, lend: Lend) => Promise<string>
  /** How to leave the run here without ending it. */
  readonly leaving: string
  /** Shows the full screen; null if there is none. */
  readonly full: (() => void) | null
  /** Whether a person can take over from an agent here. */
  readonly canTakeOver: boolean
  /** Whether git pushes at the end, and may then ask for a password. */
  readonly pushes: boolean
}

/** Handles the keys of a run in a terminal, from its first event to its last. */
export function runKeys(desk: KeyDesk) {
  const { keyboard, reporter, control } = desk
  const foot = footOf(reporter)
  const lending = lendingToGit(desk)
  /** Whether the foot shows the keys. */
  let isHelping = false
  /** The end of the pager that has the terminal. */
  let away: Promise<void> | null = null
  /** Shows the lines again after a Ctrl-Z. */
  let comeBack: (() => void) | null = null
  const view = (id: string, what: 'diff' | 'log'): void => {
    away = openView(desk, foot, what, id).finally(() => (away = null))
  }
  const help = (): void => {
    isHelping = true
    foot.show(helpBlocks(Object.keys(actions)))
  }
  const actions = actionsOf(desk, foot, { view, help })
  const showKeys = (): void =>
    reporter.keys(Object.keys(actions).map((key) => `${key} ${keyWords(key, control.isPaused).word}`))
  const press = ({ name, ctrl }: Key): void => {
    if (name === 'suspend') comeBack = reporter.hold()
    else if (name === 'resume') {
      if (comeBack) comeBack()
      else reporter.redraw()
      comeBack = null
    } else if (!away && !ctrl) {
      const wasHelping = isHelping
      isHelping = false
      // The help is closed by its own key.
      if (!foot.press(name) && !(wasHelping && name === '?')) actions[name]?.()
    }
  }
  const unlisten = keyboard.listen(press)
  showKeys()
  return {
    /** Follows the run's events. */
    event(event: RunEvent) {
      lending.event(event)
      if (event.type === 'paused' || event.type === 'resumed' || event.type === 'stopping') showKeys()
    },
    /** Resolves when the terminal is free: a person in the pager may read to the end. */
    async end() {
      await away
      unlisten()
      lending.end()
    },
  }
}

/** What each key does, by its name. */
function actionsOf(
  { reporter, control, leaving, full, canTakeOver }: KeyDesk,
  foot: Foot,
  { view, help }: { view: (id: string, what: 'diff' | 'log') => void; help: () => void },
): Readonly<Record<string, () => void>> {
  /** Does it with a task at work, which a person chooses if there are several. */
  const pick = (which: string, each: (id: string) => void, alone = each): void => {
    const ids = (reporter.status?.jobs ?? []).map(({ id }) => id)
    const [first, second] = ids
    if (first === undefined) return foot.note('no task is at work')
    if (second === undefined) return alone(first)
    const choices = ids
      .slice(0, 9)
      .map((id, at) => ({ keys: [`${at + 1}`], about: id, press: () => each(id) }))
    foot.ask(which, choices)
  }
  const skip = (): void => {
    const why = 'its attempt is kept, and it stays TODO'
    const now = (id: string): void => control.skip(id)
    pick(`skip which? ${why}`, now, (id) =>
      foot.ask(`skip ${id}? ${why}`, [
        { keys: ['y', 's', 'return'], about: 'skip it', press: () => now(id) },
      ]),
    )
  }
  const stop = (how: StopMode, key: string, about: string): Choice => ({
    keys: [key],
    about,
    press: () => control.stop(how),
  })
  const quit = (): void => {
    const choices = control.signal.aborted
      ? [stop('now', 'n', 'end at once what still runs')]
      : [
          ...(control.isStopping ? [] : [stop('after-attempt', 'a', 'after this attempt')]),
          stop('clean', 'n', 'now: what is under way is recorded'),
        ]
    foot.ask('stop?', choices, leaving)
  }
  const takeOver = (id: string): void => {
    const problem = control.takeOver(id)
    if (problem !== null) foot.note(problem)
  }
  return {
    p: () => (control.isPaused ? control.resume() : control.isStopping || control.pause()),
    s: skip,
    q: quit,
    d: () => pick('the diff of which?', (id) => view(id, 'diff')),
    l: () => pick('the log of which?', (id) => view(id, 'log')),
    ...(canTakeOver ? { i: () => pick('take over which?', takeOver) } : {}),
    ...(full ? { f: full } : {}),
    '?': help,
  }
}

function helpBlocks(keys: readonly string[]): readonly Block[] {
  const words = keys.map((key) => [`${key} ${keyWords(key, false).about}`])
  return [
    { kind: 'hang', head: [' '], words: [...words, ['Ctrl-C stop now']], gap: '   ' },
    paragraph(
      [' '],
      'the same from another terminal: ralph pause, resume, skip, stop, answer, status',
      'dim',
    ),
  ]
}

/** Opens a view in another program, which has the terminal meanwhile, or says why it cannot. */
async function openView(
  { keyboard, reporter, open }: KeyDesk,
  foot: Foot,
  what: 'diff' | 'log',
  id: string,
): Promise<void> {
  try {
    const problem = await open(what, id, async (work) => {
      const ends = [reporter.hold(), keyboard.pause('program')]
      return work().finally(() => ends.toReversed().forEach((end) => end()))
    })
    if (problem !== '') foot.note(problem)
  } catch (error) {
    foot.note(messageOf(error).split('\n')[0]!)
  }
}

/** One answer to a key's question. */
interface Choice {
  readonly keys: readonly string[]
  readonly about: string
  readonly press: () => void
}

type Foot = ReturnType<typeof footOf>

/** Questions and notices in the foot, until the next key. */
function footOf(reporter: KeyDesk['reporter']) {
  let answers: readonly Choice[] | null = null
  const show = (blocks: readonly Block[], choices: readonly Choice[] = []): void => {
    answers = choices
    reporter.overlay(blocks)
  }
  return {
    show,
    note: (text: string): void => show([paragraph([' '], text)]),
    ask(question: string, choices: readonly Choice[], remark = '') {
      const words = choices.map(({ keys, about }) => [accent(keys[0]!), ` ${about}`])
      const block: Block = {
        kind: 'hang',
        head: [' ', accent('?'), ' '],
        words: [[question], ...words, [dim('esc back')]],
        gap: '   ',
      }
      show([block, ...(remark === '' ? [] : [paragraph(['   '], remark, 'dim')])], choices)
    },
    /** Ends what is shown with a key; returns whether the key was for a question. */
    press(name: string): boolean {
      const choices = answers
      if (choices === null) return false
      answers = null
      reporter.overlay(null)
      choices.find(({ keys }) => keys.includes(name))?.press()
      return choices.length > 0
    },
  }
}

/** git may ask for a password on the terminal while it commits or pushes: then no key is read. */
function lendingToGit({ keyboard, reporter, pushes }: KeyDesk) {
  /** What takes the terminal back, by task, and for the push. */
  const lent = new Map<string, () => void>()
  const takeBack = (id: string): boolean => {
    const back = lent.get(id)
    back?.()
    return lent.delete(id)
  }
  return {
    event(event: RunEvent) {
      const { type } = event
      if ('id' in event && !type.startsWith('agent-') && takeBack(event.id)) reporter.refresh()
      if (type === 'committing') lent.set(event.id, keyboard.pause())
      if (type === 'task-started') takeBack(PUSH)
      const isLast = type === 'task-completed' || type === 'task-blocked'
      if (pushes && isLast && reporter.status?.jobs.length === 0) lent.set(PUSH, keyboard.pause())
    },
    end() {
      for (const id of lent.keys()) takeBack(id)
    },
  }
}

/** Stands for the push; not an id of a task. */
const PUSH = 'push'
