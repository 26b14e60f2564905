// Writes the JSON Schemas of the configuration, a task and the events of a run into dist/.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const cache = join(root, 'node_modules/.cache/ralph')
const require = createRequire(import.meta.url)

/** What the types of events and of a task's JSON are made of. */
const FOLDERS = ['src/engine/events', 'src/base']
const TASK = 'src/backlog/json.ts'

/** Made anew only where one of these files is another than the last time. */
async function schemasOfTypes() {
  const files = FOLDERS.flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const file of [...files, TASK]) hash.update(file).update(readFileSync(join(root, file)))
  const kept = join(cache, `schemas-${hash.digest('hex').slice(0, 16)}.json`)
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))
  const { createGenerator } = await import('ts-json-schema-generator')
  const make = (file, type, title) => ({
    ...createGenerator({
      path: join(root, file),
      tsconfig: join(root, 'tsconfig.json'),
      type,
      // Readers go on reading where a later version says more.
      additionalProperties: true,
      skipTypeCheck: true,
      topRef: false,
    }).createSchema(type),
    title,
  })
  const schemas = {
    events: make(
      'src/engine/events/event.ts',
      'RunEvent',
      'An event of a run of ralph: a line of its journal, or of ralph run --json',
    ),
    task: make(TASK, 'TaskJson', 'A task, as ralph prints it with --json'),
  }
  mkdirSync(cache, { recursive: true })
  writeFileSync(kept, JSON.stringify(schemas))
  return schemas
}

const { configJsonSchema } = require(join(cache, 'json-schema.cjs'))
const schemas = { config: configJsonSchema(), ...(await schemasOfTypes()) }
for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(join(root, `dist/ralph.${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`)
}
