import { linesOf, unclosed } from './lines.ts'

/** The content in a fence that none of its lines can close. */
export function fenced(content: string, language = ''): string {
  const fence = fenceFor(content)
  return `${fence}${language}\n${content}${/[\r\n]$/.test(content) || content === '' ? '' : '\n'}${fence}`
}

/** The fence for a content: backticks, as people expect; tildes only if the content would need a very long row of backticks. */
export function fenceFor(content: string): string {
  const backticks = longestRun(content, '`') + 1
  const tildes = longestRun(content, '~') + 1
  return backticks <= 8 || backticks <= tildes
    ? '`'.repeat(Math.max(3, backticks))
    : '~'.repeat(Math.max(3, tildes))
}

/** Text as inline code that it cannot end, on one line. */
export function inlineCode(text: string): string {
  const line = oneLine(text)
  const delimiter = '`'.repeat(longestRun(line, '`') + 1)
  const pad = line === '' || line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${delimiter}${pad}${line}${pad}${delimiter}`
}

/** Text on one line: line breaks and invisible characters are written as their codes. */
export function oneLine(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Closes what is open at the end of a text, so that it does not include what follows. */
export function closed(text: string): string {
  const closing = unclosed(text)
  return closing === null ? text : `${text}${/[\r\n]$/.test(text) ? '' : '\n'}${closing}`
}

/** The content of a text's first fence in that language; null if there is none. */
export function unfenced(text: string, language = /^/): string | null {
  let content: string[] | null = null
  let isOpen = false
  for (const line of linesOf(text)) {
    if (line.kind === 'fence') {
      if (content) return content.join('\n')
      isOpen = !isOpen
      if (isOpen && language.test(line.text.replace(/^\s*(?:`+|~+)\s*/, ''))) content = []
    } else content?.push(line.text)
  }
  return content?.join('\n') ?? null
}

function longestRun(text: string, mark: '`' | '~'): number {
  let longest = 0
  for (let at = text.indexOf(mark); at !== -1;) {
    let end = at + 1
    while (text[end] === mark) end++
    longest = Math.max(longest, end - at)
    at = text.indexOf(mark, end)
  }
  return longest
}
