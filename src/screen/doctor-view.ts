import { dim, good, bad, line, table, BLANK, type View, type Row } from './block.ts'
import { counted } from '../base/text.ts'

/** Each checked thing, what to do about problems, and how many there are. */
export function doctorView(
  findings: readonly { area: string; level: keyof typeof SIGNS; message: string; fix: string }[],
): View {
  const missing = findings.filter(({ level }) => level === 'problem')
  // What keeps a run from starting comes first.
  const shown = [...missing, ...findings.filter(({ level }) => level !== 'problem')]
  const rows = shown.flatMap((finding, index): readonly Row[] => {
    const { area, level, message, fix } = finding
    const isFirst = shown[index - 1]?.area !== area
    const row = [SIGNS[level], isFirst ? dim(area) : '', message]
    return fix === '' ? [row] : [row, ['', '', dim(fix)]]
  })
  return [
    ...table(rows, { wrap: 2, indent: '' }),
    BLANK,
    line(
      missing.length === 0
        ? 'Nothing stands in the way of a run.'
        : `Fix ${counted(missing.length, 'problem')} before a run.`,
    ),
  ]
}

const SIGNS = { ok: good('✓'), note: dim('·'), problem: bad('✗') } as const
