import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A project in a folder of its own, gone when the test is over. */
export function projectFolder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = realpathSync.native(mkdtempSync(join(tmpdir(), 'ralph-cli-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const [file, content] of Object.entries({ 'package.json': '{}', ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), content)
  }
  return root
}

/** A task file of the ordinary style. */
export function taskText(id: string, title: string, fields: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Status: 'TODO', Depends: 'none', ...fields }).map(
    ([key, value]) => `- **${key}**: ${value}`,
  )
  return `# ${id}: ${title}\n\n${lines.join('\n')}\n\n## Description\n\nDo it.\n\n## Acceptance Criteria\n\n- [ ] It is done\n`
}
