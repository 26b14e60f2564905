import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectFolder, taskText } from '../repository.ts'
import { ralph } from '../cli/ralph.ts'

describe('the agent that next names', () => {
  const discipline = { 'docs/disciplines/backend.md': '# Backend\n\n- **Agent**: qwen\n' }
  const codex = { 'ralph.config.json': '{ "agent": "codex" }' }
  it.each<[string, Record<string, string>, Record<string, string>, string]>([
    ["is the task's", { Agent: 'gemini', Discipline: 'backend' }, { ...discipline, ...codex }, 'gemini'],
    ["else its discipline's", { Discipline: 'backend' }, { ...discipline, ...codex }, 'qwen'],
    ["else the config's", {}, codex, 'codex'],
    ['else the first that is installed', {}, {}, 'opencode'],
  ])('%s', async (_, fields, files, agent) => {
    const cwd = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'One', fields),
      'bin/opencode': '#!/bin/sh\n',
      ...files,
    })
    chmodSync(join(cwd, 'bin/opencode'), 0o755)
    const { stdout } = await ralph(['next'], { cwd, env: { PATH: join(cwd, 'bin') } })
    expect(stdout.split('\n')[1]).toMatch(new RegExp(` · ${agent}$`))
  })
})
