import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { select, unblocks, type Selection } from '../../src/backlog/select/selection.ts'
import { compareNumbers, type TaskNumber } from '../../src/backlog/ids.ts'
import { STATUSES, type Status, type Task } from '../../src/backlog/model.ts'
import { buildTask } from '../task/build-task.ts'

/** A backlog of up to twelve tasks that need each other in any way, some padded, some twice, some unclear. */
const backlogs: fc.Arbitrary<Task[]> = fc
  .array(
    fc.record({
      number: fc.integer({ min: 1, max: 12 }),
      padded: fc.boolean(),
      status: fc.constantFrom(...STATUSES, 'TODO', 'TODO', 'DONE', null),
      needs: fc.array(fc.integer({ min: 1, max: 14 }), { maxLength: 3 }),
      blocked: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      unclear: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
    }),
    { maxLength: 12 },
  )
  .map((sketches) =>
    sketches.map(({ number, padded, status, needs, blocked, unclear }, index) =>
      buildTask(`T-${padded ? String(number).padStart(3, '0') : number}`, {
        file: `docs/tasks/${index}.md`,
        // As the reader has it: what says something unclear has no status.
        status: unclear ? null : status,
        depends: needs.map((needed) => `T-${needed}`),
        sections: blocked ? { Blocked: 'It waits.' } : {},
        problems:
          unclear || status === null
            ? [{ kind: 'bad-status', field: 'Status', message: '?', span: { start: 0, end: 0 }, line: 1 }]
            : [],
      }),
    ),
  )

/** The rules as FORMAT words them, each looked up anew, as slow as that is. */
const reference = {
  needs(tasks: readonly Task[], number: TaskNumber): TaskNumber[] {
    const own = tasks.filter((task) => task.number === number)
    const named = own.flatMap((task) => task.depends.map((dependency) => dependency.number))
    return named.filter((needed) => tasks.some((task) => task.number === needed))
  },
  reach(tasks: readonly Task[], from: TaskNumber): Set<TaskNumber> {
    const reached = new Set<TaskNumber>()
    let edge = reference.needs(tasks, from)
    while (edge.length > 0) {
      for (const number of edge) reached.add(number)
      edge = edge.flatMap((number) => reference.needs(tasks, number)).filter((number) => !reached.has(number))
    }
    return reached
  },
  isPlainly: (status: Status) => (task: Task) => task.status === status && task.problems.length === 0,
  eligible(tasks: readonly Task[], task: Task): boolean {
    const isDone = (number: TaskNumber): boolean => {
      const claims = tasks.filter((other) => other.number === number)
      return claims.length > 0 && claims.every(reference.isPlainly('DONE'))
    }
    return (
      reference.isPlainly('TODO')(task) &&
      task.sections.length === 0 &&
      tasks.filter((other) => other.number === task.number).length === 1 &&
      !reference.reach(tasks, task.number).has(task.number) &&
      task.depends.every((dependency) => isDone(dependency.number))
    )
  },
}

const filesOf = (tasks: readonly Task[]): string[] => tasks.map((task) => task.file).sort()
const numbers = (tasks: readonly Task[]): TaskNumber[] => tasks.map((task) => task.number)

function forEveryBacklog(check: (tasks: readonly Task[], selection: Selection) => void): void {
  fc.assert(
    fc.property(backlogs, (tasks) => check(tasks, select(tasks))),
    { numRuns: 1000 },
  )
}

test('what is eligible is what the rules say, lowest number first', () => {
  forEveryBacklog((tasks, selection) => {
    const wanted = tasks.filter((task) => reference.eligible(tasks, task))
    expect(filesOf(selection.eligible)).toEqual(filesOf(wanted))
    expect(numbers(selection.eligible)).toEqual(numbers(wanted).sort(compareNumbers))
    expect(selection.next ?? undefined).toBe(selection.eligible[0])
  })
})

test('a task waits for something exactly if it could be next and is not', () => {
  forEveryBacklog((tasks, selection) => {
    expect(selection.states).toHaveLength(tasks.length)
    for (const { task, eligible, waiting } of selection.states) {
      const finished = reference.isPlainly('DONE')(task) || reference.isPlainly('BLOCKED')(task)
      expect(waiting.length > 0).toBe(!finished && !eligible)
    }
  })
})

test('each task that reaches itself is in one cycle, with all that it reaches and that reach it', () => {
  forEveryBacklog((tasks, selection) => {
    const together = new Map<TaskNumber, TaskNumber[]>()
    for (const number of new Set(numbers(tasks))) {
      const reached = reference.reach(tasks, number)
      if (!reached.has(number)) continue
      const knot = [...reached]
        .filter((other) => reference.reach(tasks, other).has(number))
        .sort(compareNumbers)
      together.set(knot[0]!, knot)
    }
    const found = selection.cycles.map((cycle) => numbers(cycle.tasks))
    expect(found.map((cycle) => cycle[0])).toEqual([...together.keys()].sort(compareNumbers))
    for (const cycle of found) expect(cycle.toSorted(compareNumbers)).toEqual(together.get(cycle[0]!))
  })
})

test('what a task unblocks is what becomes eligible once it is DONE', () => {
  forEveryBacklog((tasks, selection) => {
    const before = filesOf(selection.eligible)
    for (const task of tasks.filter(
      (one) => tasks.filter(({ number }) => number === one.number).length === 1,
    )) {
      const after = select(
        tasks.map((other) => (other === task ? { ...task, status: 'DONE' as const, problems: [] } : other)),
      )
      const fresh = filesOf(after.eligible).filter((file) => !before.includes(file))
      expect(filesOf(unblocks(selection, task.id))).toEqual(fresh)
    }
  })
})
