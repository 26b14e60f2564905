/** How test runners, compilers and linters begin, or name, what is wrong. */
const HEADLINE =
  /^\s*(?:[✖✗✘×❌●]|(?:--- )?FAIL(?:ED|URE)?\b|not ok\b|E {3}|(?:\w*(?:Error|Exception)|error|fatal|panic)\b.*:|thread '.*' panicked)|[:)]\s+(?:fatal )?error\b/

/** The few lines of a failed check that a person looks for: what failed first, and what follows it; else the end. */
export function tellingLines(output: string, most: number): readonly string[] {
  const lines = output.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '')
  const first = lines.findIndex((line) => HEADLINE.test(line))
  return first === -1 ? lines.slice(-most) : lines.slice(first, first + most)
}
