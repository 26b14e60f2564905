import type { Prompt } from '../prompt/template.ts'
import { strong, dim, paragraph, table, BLANK, type Block } from './block.ts'

/** The parts of a prompt, with their sizes and the sum; warnings come first. */
export function promptView({ text, parts, estimate }: Prompt, warnings: readonly string[]): readonly Block[] {
  const width = String(Math.max(estimate, Buffer.byteLength(text))).length
  const size = (count: number): string => String(count).padStart(width)
  const rows = parts.map(({ name, tokens, bytes }) => [name, size(tokens), dim(size(bytes))])
  const sum = [strong('about'), strong(size(estimate)), dim(size(Buffer.byteLength(text)))]
  return [
    ...warnings.map((warning) => paragraph(['warning: '], warning)),
    ...(warnings.length > 0 ? [BLANK] : []),
    table([[dim('part'), dim('tokens'.padStart(width)), dim('bytes'.padStart(width))], ...rows, sum], {
      indent: '',
    }),
  ]
}
