import { choicesIn, decidedText, readDecision, type Choice, type Choices } from './decision-file.ts'
import { knownNow, type Desk } from './desk.ts'
import type { KnownFile } from './plan-file.ts'
import type { PlanOptions, PlanPorts } from './ports.ts'

/** An open decision, and what its file lacks. */
export interface OpenFile {
  readonly file: string
  readonly line: number
  readonly title: string
  readonly message: string
}

/** Decisions after everybody who could decide was asked. */
export interface Settled {
  readonly decisions: readonly KnownFile[]
  /** The files that have changed. */
  readonly texts: ReadonlyMap<string, string>
  /** Decisions that are still open. */
  readonly open: readonly OpenFile[]
}

/** Settles open decisions: with the recommendations, by a person, or leaves them open. */
export async function settleDecisions(
  files: readonly KnownFile[],
  { desk, options }: { readonly desk: Desk; readonly options: PlanOptions },
  ports: PlanPorts,
): Promise<Settled> {
  const texts = new Map<string, string>()
  const open = openFiles(files, desk).filter(({ file }) => desk.read(file) !== null)
  for (const [index, { file, title }] of open.entries()) {
    const text = desk.read(file) ?? ''
    const choices = choicesIn(text)
    const choice =
      options.yes || options.dryRun
        ? recommendation(choices)
        : await ports.decide?.({ ...choices, file, title, number: index + 1, of: open.length })
    if (choice === 'later') break
    if (!choice) continue
    const decided = decidedText(text, choice)
    texts.set(file, decided)
    desk.lay(file, decided)
  }
  return { decisions: knownNow(files, desk), texts, open: openFiles(files, desk) }
}

function recommendation({ recommended, why }: Choices): Choice | null {
  return recommended === null
    ? null
    : { chosen: recommended, remark: ' (the recommendation, taken with --yes)', why }
}

/** The decisions that are not complete. */
function openFiles(files: readonly KnownFile[], desk: Desk): readonly OpenFile[] {
  return files.flatMap(({ file }): OpenFile[] => {
    const text = desk.read(file)
    if (text === null)
      return [
        { file, line: 1, title: file, message: 'it is gone: bring it back, or take its line out of plan.md' },
      ]
    const { title, standing } = readDecision(file, text)
    if (standing.kind === 'open') return [{ file, line: 1, title, message: 'it is not decided' }]
    return standing.kind === 'unclear'
      ? [{ file, line: standing.line, title, message: standing.message }]
      : []
  })
}
