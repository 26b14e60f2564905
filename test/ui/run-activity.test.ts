import { expect, it } from 'vitest'
import type { AgentTool } from '../../src/engine/events/event.ts'
import { Activity } from '../../src/screen/run-activity.ts'

const GATE = { name: 'test', command: 'npm test', required: true, timeoutSeconds: 60 }
const time = (seconds: number) => new Date(seconds * 1000)
const tool = (name: string, what: string, status: AgentTool['status'] = 'running'): AgentTool => ({
  type: 'agent-tool',
  id: 'T-1',
  name,
  summary: `${name} ${what}`,
  status,
})

it('keeps the last that an agent did, and how a tool failed', () => {
  const activity = new Activity([])
  expect([activity.newest, activity.before(3), activity.digest]).toEqual(['', [], ''])
  for (let line = 1; line <= 20; line++) activity.step(`line ${line}`)
  activity.tool(tool('Bash', 'npm test'), time(0))
  activity.tool(tool('Bash', 'npm test', 'failed'), time(12))
  activity.tool(tool('Read', 'a.ts'), time(13))
  activity.tool(tool('Read', 'a.ts', 'ok'), time(13))
  activity.tool(tool('Fetch', 'x', 'denied'), time(14))
  expect(activity.newest).toBe('Fetch x denied')
  expect(activity.before(3)).toEqual(['line 20', 'Bash npm test  ✗ 12s', 'Read a.ts'])
  expect(activity.before(0)).toEqual([])
})

it('sums up the tools of any agent by what they are for, and the gates by their names', () => {
  const activity = new Activity([GATE])
  for (const name of ['Read', 'read_file', 'Grep', 'ls', 'search_file_content'])
    activity.tool(tool(name, 'x'), time(0))
  for (const name of ['Edit', 'apply_patch', 'write_file', 'replace']) activity.tool(tool(name, 'x'), time(0))
  for (const command of ['npm test', 'cd a && npm test', 'npm ci'])
    activity.tool(tool('Bash', command), time(0))
  activity.tool(tool('run_shell_command', 'ls'), time(0))
  activity.tool(tool('TodoList2', 'x', 'ok'), time(0))
  activity.tool(tool('Think', 'x'), time(0))
  expect(activity.digest).toBe('read 5, edited 4, ran test 2×, 2 commands, 1 other tool')
})
