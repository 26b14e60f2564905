/** A link as its author wrote it, and where it stands. */
export interface Link {
  readonly target: string
  readonly line: number
  readonly column: number
}

const LINK = /!?\[[^\]]*\]\(\s*<?([^\s<>)]+)>?(?:\s+"[^"]*")?\s*\)/g
const FENCE = /^\s*(```+|~~~+)/

/** The links of a Markdown text, in its order; what stands in a code block is not one. */
export function readLinks(text: string): readonly Link[] {
  const links: Link[] = []
  let fence: string | undefined
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const mark = FENCE.exec(line)?.[1]
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined
    } else if (fence === undefined) {
      links.push(...linksInLine(line, index + 1))
    }
  }
  return links
}

function linksInLine(line: string, number: number): readonly Link[] {
  const withoutCode = line.replace(/`[^`]*`/g, (code) => ' '.repeat(code.length))
  return [...withoutCode.matchAll(LINK)].map((match) => ({
    target: match[1] ?? '',
    line: number,
    column: match.index + 1,
  }))
}
