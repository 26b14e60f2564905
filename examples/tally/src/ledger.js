const LINE = /^(\d{4}-\d{2}-\d{2}),([^,]+),(-?\d+)(?:\.(\d{1,2}))?(?:,(.*))?$/

/**
 * The expenses of a ledger's text, amounts in cents.
 * @param {string} text
 */
export function readLedger(text) {
  return text
    .split(/\r?\n/)
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
    .map(({ line, number }) => readExpense(line, number))
}

/**
 * @param {string} line
 * @param {number} number
 */
function readExpense(line, number) {
  const match = LINE.exec(line)
  if (!match) throw new Error(`line ${number} is not an expense: ${line}`)
  const [, date, category, whole, decimals = '', note = ''] = match
  const sign = whole.startsWith('-') ? -1 : 1
  const cents = Number(whole) * 100 + sign * Number(decimals.padEnd(2, '0'))
  return { date, category: category.trim(), cents, note: note.trim() }
}
