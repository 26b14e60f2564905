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

/** Closes the last fence or comment of a text if it is open, so that it does not include what follows. */
export function closed(text: string): string {
  const closing = leftOpen(text)
  return closing === null ? text : `${text}${/[\r\n]$/.test(text) ? '' : '\n'}${closing}`
}

/** The content of a text's first fence in that language; null if there is none. */
export function unfenced(text: string, language = /^/): string | null {
  let fence: string | null = null
  let isWanted = false
  const content: string[] = []
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (fence === null) {
      fence = openingOf(line)
      isWanted = fence !== null && language.test(line.trimStart().slice(fence.length).trimStart())
    } else if (closes(fence, line)) {
      if (isWanted) return content.join('\n')
      fence = null
    } else if (isWanted) content.push(line)
  }
  return isWanted ? content.join('\n') : null
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

function leftOpen(text: string): string | null {
  let fence: string | null = null
  let comment = false
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (comment) comment = !line.includes('-->')
    else if (fence !== null) fence = closes(fence, line) ? null : fence
    else if (/^ {0,3}<!--/.test(line)) comment = !line.includes('-->')
    else fence = openingOf(line)
  }
  return comment ? '-->' : fence
}

/** The marks of a line that opens a fence; null for any other line. */
export function openingOf(line: string): string | null {
  const [, marks = '', info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
  return marks === '' || (marks.startsWith('`') && info.includes('`')) ? null : marks
}

/** Whether the line closes a fence that was opened with these marks. */
export function closes(fence: string, line: string): boolean {
  const marks = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1]
  return marks !== undefined && marks[0] === fence[0] && marks.length >= fence.length
}
