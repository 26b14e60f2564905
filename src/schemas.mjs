// Brings what is read as it is into dist/: the files for GitHub, and the JSON Schemas of the configuration, a task and the
// events of a run.
import { cpSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { jsonSchemas } = createRequire(import.meta.url)(
  join(root, 'node_modules/.cache/ralph/json-schema.cjs'),
)
cpSync(join(root, 'src/authoring/init/github'), join(root, 'dist/github'), { recursive: true })
for (const [name, schema] of Object.entries(jsonSchemas())) {
  writeFileSync(join(root, `dist/ralph.${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`)
}
