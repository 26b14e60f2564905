/** Whether a milestone is the one that was asked for: by its number, its name, or both as written. */
export function isMilestone(milestone: string, asked: string): boolean {
  const [, number, name] = /^(\d+(?:\.\d+)*)\s*[—–:.-]*\s*(.*)$/.exec(milestone) ?? []
  const wanted = normal(asked)
  return [milestone, number, name].some((form) => form !== undefined && normal(form) === wanted)
}

function normal(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^0+(?=\d)/, '')
}
