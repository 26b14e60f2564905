/** Letters of a program's name or path. */
const NAME = '[\\w./+@-]+'
/** What shells, make, env and yarn print for a program that they do not find. */
const COMPLAINTS = [
  // dash and busybox, bash: `sh: 1: vitest: not found`, `sh: line 1: vitest: command not found`
  `(?:[\\w./-]*sh|[^\\s:]+):(?: (?:line )?\\d+:)? (${NAME}): (?:command )?not found`,
  `(?:zsh:\\d+: )?command not found: (${NAME})`,
  `make(?:\\[\\d+\\])?: (${NAME}): No such file or directory`,
  `(?:/usr/bin/)?env: [‘'"]?(${NAME})[’'"]?: No such file or directory`,
].map((pattern) => new RegExp(`^${pattern}$`))
/** How make, npm, pnpm and yarn pass that on. */
const PASSED_ON = /\b(?:Error|code|status) 127\b|\bspawn ENOENT\b/

/**
 * The program that a gate could not start, found in the last lines of its output; null if it failed for another
 * reason. With another exit code than the shell's own, a later line must show that a tool in between passed that one on.
 */
export function missingIn(output: string, code: number | null): string | null {
  if (code === 0 || code === null) return null
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .slice(-MOST_AFTER)
  const at = lines.findLastIndex((line) => programMissingIn(line) !== null)
  if (at === -1 || (code !== 127 && !lines.slice(at + 1).some((line) => PASSED_ON.test(line)))) return null
  return programMissingIn(lines[at]!)
}

/** npm and similar tools print this many lines after it at most. */
const MOST_AFTER = 20

function programMissingIn(line: string): string | null {
  for (const complaint of COMPLAINTS) {
    const name = complaint.exec(line)?.[1]
    if (name !== undefined) return name
  }
  return null
}
