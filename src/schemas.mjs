// Brings what is read as it is into dist/: the files for GitHub, the prompts of planning, the style of the report, and the
// JSON Schemas of the configuration, a task and the events of a run.
import { cpSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { jsonSchemas } = createRequire(import.meta.url)(
  join(root, 'node_modules/.cache/ralph/json-schema.cjs'),
)
for (const folder of ['init/github', 'plan/prompts'])
  cpSync(join(root, 'src/authoring', folder), join(root, 'dist', basename(folder)), { recursive: true })
cpSync(join(root, 'src/screen/page/report.css'), join(root, 'dist/report.css'))
for (const [name, schema] of Object.entries(jsonSchemas())) {
  writeFileSync(join(root, `dist/ralph.${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`)
}
