// The floor: the least that tells the next task at all. It reads the folder, reads the head of each file, and matches
// one regular expression.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'

const folder = 'docs/tasks'
const head = Buffer.allocUnsafe(512)
let todo = 0
for (const name of readdirSync(folder)) {
  const file = openSync(`${folder}/${name}`)
  const length = readSync(file, head)
  closeSync(file)
  if (/\*\*Status\*\*: TODO/.test(head.latin1Slice(0, length))) todo++
}
process.stdout.write(`${todo}\n`)
