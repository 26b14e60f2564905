import type { RunEvent, StopMode } from '../../engine/events/event.ts'
import type { Control } from '../../engine/control.ts'
import { accent, dim, paragraph, type Block } from '../../screen/block.ts'
import { keyWords } from '../../screen/full/keys.ts'
import type { Lend } from '../../screen/full/screen.ts'
import type { RunReporter } from '../../screen/run-reporter.ts'
import type { KeyPress, Keyboard } from '../keyboard.ts'

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

/** One answer to a key's question. */
interface Choice {
  readonly keys: readonly string[]
  readonly about: string
  readonly press: () => void
}

/** The keys of a run in a terminal, from its first event to its last. */
export class RunKeys {
  readonly #desk: KeyDesk
  readonly #unlisten: () => void
  readonly #keys: Readonly<Record<string, () => void>>
  /** The answers to the question in the foot. */
  #choices: readonly Choice[] | null = null
  /** Whether the foot shows the keys. */
  #isHelping = false
  /** The end of the pager that has the terminal. */
  #away: Promise<void> | null = null
  /** Shows the lines again after a Ctrl-Z. */
  #comeBack: (() => void) | null = null
  /** Tasks that git is committing, when it may ask for a password, with what takes the terminal back. */
  readonly #lent = new Map<string, () => void>()

  constructor(desk: KeyDesk) {
    this.#desk = desk
    this.#keys = this.#table()
    this.#unlisten = desk.keyboard.listen((key) => this.#press(key))
    this.#showKeys()
  }

  /** Follows the run's events. */
  event(event: RunEvent): void {
    this.#lend(event)
    if (event.type === 'paused' || event.type === 'resumed' || event.type === 'stopping') this.#showKeys()
  }

  /** Resolves when the terminal is free: a person in the pager may read to the end. */
  async end(): Promise<void> {
    await this.#away
    this.#unlisten()
    for (const back of this.#lent.values()) back()
    this.#lent.clear()
  }

  #table(): Readonly<Record<string, () => void>> {
    const { control, full, canTakeOver } = this.#desk
    return {
      p: () => (control.isPaused ? control.resume() : control.isStopping || control.pause()),
      s: () => this.#skip(),
      q: () => this.#stop(),
      d: () => this.#view('diff'),
      l: () => this.#view('log'),
      ...(canTakeOver ? { i: () => this.#takeOver() } : {}),
      ...(full ? { f: full } : {}),
      '?': () => this.#help(),
    }
  }

  #press({ name, ctrl }: KeyPress): void {
    if (name === 'suspend') this.#comeBack = this.#desk.reporter.hold()
    else if (name === 'resume') this.#resume()
    else if (!this.#away && !ctrl) {
      const [choices, helped] = [this.#choices ?? [], this.#isHelping]
      this.#close()
      if (choices.length > 0) choices.find(({ keys }) => keys.includes(name))?.press()
      // A mere notice stops no key, but the help is closed by its own key.
      else if (!helped || name !== '?') this.#keys[name]?.()
    }
  }

  #resume(): void {
    if (this.#comeBack) this.#comeBack()
    else this.#desk.reporter.redraw()
    this.#comeBack = null
  }

  #skip(): void {
    const skip = (id: string): void => this.#desk.control.skip(id)
    const why = 'its attempt is kept, and it stays TODO'
    this.#pick({
      one: (id) =>
        this.#ask(`skip ${id}? ${why}`, [
          { keys: ['y', 's', 'return'], about: 'skip it', press: () => skip(id) },
        ]),
      which: `skip which? ${why}`,
      each: skip,
    })
  }

  #takeOver(): void {
    const take = (id: string): void => {
      const problem = this.#desk.control.takeOver(id)
      if (problem !== null) this.#note(problem)
    }
    this.#pick({ one: take, which: 'take over which?', each: take })
  }

  #stop(): void {
    const { control, leaving } = this.#desk
    const stop = (how: StopMode, keys: readonly string[], about: string): Choice => ({
      keys,
      about,
      press: () => control.stop(how),
    })
    const choices = control.signal.aborted
      ? [stop('now', ['n'], 'end at once what still runs')]
      : [
          ...(control.isStopping ? [] : [stop('after-attempt', ['a'], 'after this attempt')]),
          stop('clean', ['n'], 'now: what is under way is recorded'),
        ]
    this.#ask('stop?', choices, leaving)
  }

  #help(): void {
    const words = Object.keys(this.#keys).map((key) => [`${key} ${keyWords(key, false).about}`])
    this.#choices = []
    this.#isHelping = true
    this.#desk.reporter.overlay([
      { kind: 'hang', head: [' '], words: [...words, ['Ctrl-C stop now']], gap: '   ' },
      paragraph(
        [' '],
        'the same from another terminal: ralph pause, resume, skip, stop, answer, status',
        'dim',
      ),
    ])
  }

  #view(what: 'diff' | 'log'): void {
    const show = (id: string): void => {
      this.#away = this.#read(id, what).finally(() => (this.#away = null))
    }
    this.#pick({ one: show, which: `the ${what} of which?`, each: show })
  }

  /** Opens a view in another program, which has the terminal meanwhile. */
  async #read(id: string, what: 'diff' | 'log'): Promise<void> {
    const { keyboard, reporter, open } = this.#desk
    try {
      const problem = await open(what, id, async (work) => {
        const ends = [reporter.hold(), keyboard.pause('program')]
        return work().finally(() => ends.toReversed().forEach((end) => end()))
      })
      if (problem !== '') this.#note(problem)
    } catch (error) {
      this.#note(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
    }
  }

  /** Chooses one of several tasks at work, by a question if needed. */
  #pick({
    one,
    which,
    each,
  }: {
    readonly one: (id: string) => void
    readonly which: string
    readonly each: (id: string) => void
  }): void {
    const ids = (this.#desk.reporter.status?.jobs ?? []).map(({ id }) => id)
    const [first, second] = ids
    if (first === undefined) return this.#note('no task is at work')
    if (second === undefined) return one(first)
    const choices = ids
      .slice(0, 9)
      .map((id, at) => ({ keys: [`${at + 1}`], about: id, press: () => each(id) }))
    this.#ask(which, choices)
  }

  #ask(question: string, choices: readonly Choice[], remark = ''): void {
    this.#choices = choices
    const words = choices.map(({ keys, about }) => [accent(keys[0] ?? ''), ` ${about}`])
    const block: Block = {
      kind: 'hang',
      head: [' ', accent('?'), ' '],
      words: [[question], ...words, [dim('esc back')]],
      gap: '   ',
    }
    this.#desk.reporter.overlay([block, ...(remark === '' ? [] : [paragraph(['   '], remark, 'dim')])])
  }

  /** Shows a text until the next key. */
  #note(text: string): void {
    this.#choices = []
    this.#desk.reporter.overlay([paragraph([' '], text)])
  }

  #close(): void {
    if (!this.#choices) return
    this.#choices = null
    this.#isHelping = false
    this.#desk.reporter.overlay(null)
  }

  #showKeys(): void {
    const { reporter, control } = this.#desk
    reporter.keys(Object.keys(this.#keys).map((key) => `${key} ${keyWords(key, control.isPaused).word}`))
  }

  /** git may ask for a password on the terminal while it commits or pushes: then no key is read. */
  #lend(event: RunEvent): void {
    const { keyboard, reporter, pushes } = this.#desk
    const id = 'id' in event ? event.id : null
    const back = id === null || event.type.startsWith('agent-') ? undefined : this.#lent.get(id)
    if (back && id !== null) {
      this.#lent.delete(id)
      back()
      reporter.refresh()
    }
    if (event.type === 'committing') this.#lent.set(event.id, keyboard.pause())
    const isLast = event.type === 'task-completed' || event.type === 'task-blocked'
    if (pushes && isLast && reporter.status?.jobs.length === 0) this.#lent.set(PUSH, keyboard.pause())
    if (event.type === 'task-started') {
      this.#lent.get(PUSH)?.()
      this.#lent.delete(PUSH)
    }
  }
}

/** Stands for the push; not an id of a task. */
const PUSH = 'push'
