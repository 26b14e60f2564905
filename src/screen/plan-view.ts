import { counted } from '../base/text.ts'
import { unreachable } from '../base/errors.ts'
import { mistakeText, type Mistake } from '../authoring/plan/answers.ts'
import { isNothing, type Changes } from '../authoring/plan/drafts.ts'
import type { PlanEnd } from '../authoring/plan/plan.ts'
import type { Plan } from '../authoring/plan/plan-file.ts'
import type { PlanEvent } from '../authoring/plan/ports.ts'
import {
  strong,
  dim,
  accent,
  good,
  bad,
  line,
  paragraph,
  spread,
  first,
  headed,
  warningBlock,
  BLANK,
  type View,
} from './block.ts'

/** The events of planning, as lines that stay. Prompts are shown unchanged. */
export function planEventBlocks(event: PlanEvent): View {
  switch (event.type) {
    case 'phase-started':
      return [
        BLANK,
        spread([accent(event.slug), '  ', strong(event.phase)], [dim(`about ${event.tokens} tokens`)]),
      ]
    case 'prompt':
      return []
    case 'answer-refused':
      return [
        line('     ', bad('✗'), ` the answer has ${counted(event.mistakes.length, 'mistake')}`),
        ...mistakeBlocks(event.mistakes),
        ...(event.left > 0 ? [line(dim('     it goes back with them'))] : []),
      ]
    case 'phase-finished':
      return [
        line('  ', good('✓'), `  ${event.phase}`, dim(event.commit === null ? '' : `   ${event.commit}`)),
        ...event.files.map((file) => line(dim(`       ${file}`))),
      ]
    case 'warning':
      return [warningBlock(event.message)]
    default:
      return unreachable(event)
  }
}

const MOST = 20

function mistakeBlocks(mistakes: readonly Mistake[]): View {
  return first(mistakes, MOST, (mistake) => paragraph([], mistakeText(mistake))).map((block) =>
    headed(['       '], block),
  )
}

/** How planning ended, and the next steps. */
export function planEndView(end: PlanEnd | { readonly kind: 'aborted'; readonly plan: Plan }): View {
  const { slug } = end.plan
  switch (end.kind) {
    case 'aborted':
      return [line(`The plan ${slug} is ended; its files and tasks stay as they are.`)]
    case 'unchanged':
      return [line(`The plan ${slug} is done, and nothing that it was made from has changed.`)]
    case 'done':
      return [
        BLANK,
        ...(end.changes ? changesView(end.changes) : []),
        line(good('✓'), ` ${slug} is planned: ${counted(end.plan.tasks.length, 'task')}`),
        line('Next: ralph next, then ralph run --loop'),
      ]
    case 'undecided':
      return [
        BLANK,
        line(`${slug}: decide ${counted(end.open.length, 'decision')}`),
        ...end.open.map(({ file, line: at, message }) => paragraph(['  '], `${file}:${at}:1 ${message}`)),
        paragraph(
          [],
          `In each, set status to accepted and name the option: Chosen option: "…". Then: ralph plan --continue ${slug}`,
        ),
        line(dim(`Or take what is recommended: ralph plan --continue ${slug} --yes`)),
      ]
    case 'proposed':
      return [
        BLANK,
        ...changesView(end.changes),
        line('Nothing is written yet.'),
        line(`To take it: ralph plan --continue ${slug} --yes`),
      ]
    case 'refused':
      return [
        BLANK,
        line(bad('✗'), ` ${end.phase}: the answer is wrong, also the third time; nothing is written of it`),
        ...mistakeBlocks(end.mistakes),
        line(`To ask anew: ralph plan --continue ${slug}`),
      ]
    case 'stopped':
      return [
        BLANK,
        paragraph(
          [bad('✗'), ' '],
          `${end.phase}: ${end.why === 'asks' ? 'the agent asks: ' : ''}${end.reason}`,
        ),
        line(`To go on from here: ralph plan --continue ${slug}`),
      ]
    default:
      return unreachable(end)
  }
}

/** A plan's changes to the backlog, one line for each task. */
export function changesView(changes: Changes): View {
  if (isNothing(changes)) return [line('The backlog stays as it is.')]
  const { add, change, drop, stay } = changes
  return [
    ...add.map(({ id, task }) => line(good('+'), ` ${id}  ${task.title}`)),
    ...change.flatMap(({ draft, fields, sections }) => [
      line('~', ` ${draft.id}  ${draft.task.title}`),
      ...fields.map(({ name, before, after }) =>
        line(dim(`         ${name}: ${before ?? 'none'} → ${after ?? 'none'}`)),
      ),
      ...(sections.length > 0 ? [line(dim(`         ${sections.join(', ')}`))] : []),
    ]),
    ...drop.map(({ id, title }) => line(bad('-'), ` ${id}  ${title}`)),
    ...stay.map(({ task, stays }) => line(dim(`= ${task.id}  ${task.title}  stays: ${stays}`))),
  ]
}
