import { dim, good, bad, line, table, BLANK, type View, type Row } from './block.ts'
import { counted } from '../base/text.ts'

/** Each checked thing, what to do about problems, and how many there are. */
export function doctorView(
  findings: readonly { area: string; level: keyof typeof SIGNS; message: string; fix: string }[],
): View {
  const rows = findings.flatMap((finding, index): readonly Row[] => {
    const { area, level, message, fix } = finding
    const isFirst = findings[index - 1]?.area !== area
    const row = [SIGNS[level], isFirst ? dim(area) : '', message]
    return fix === '' ? [row] : [row, ['', '', dim(fix)]]
  })
  const problems = findings.filter(({ level }) => level === 'problem').length
  return [
    ...table(rows, { wrap: 2, indent: '' }),
    BLANK,
    line(
      problems === 0
        ? 'Nothing stands in the way of a run.'
        : `${counted(problems, 'problem')} to mend before a run.`,
    ),
  ]
}

const SIGNS = { ok: good('✓'), note: dim('·'), problem: bad('✗') } as const
