import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import type { Deed } from './ports.ts'
import { gateOf } from './ports.ts'

const IDS = ['T-001', 'T-002', 'T-003', 'T-004']
const subjects = (root: string): string[] => git(root, 'log', '--reverse', '--format=%s').split('\n').slice(1)

/** An agent that writes a file of its own task. */
const writes: Deed = ({ task, cwd }) => put(cwd, { [`src/${task.id}.txt`]: `${task.id}\n` })

describe('several jobs at once', () => {
  it('do every task, each in a workspace, and land one commit each on the branch that is checked out', async () => {
    const root = makeProject(Object.fromEntries(IDS.map((id) => [id, taskText(id)])))
    const seen = new Set<string>()
    let atOnce = 0
    let most = 0
    const events = await runAll({
      root,
      options: { apart: { jobs: 3, branch: null } },
      deed: async (request) => {
        seen.add(request.cwd)
        most = Math.max(most, ++atOnce)
        await new Promise((resolve) => setTimeout(resolve, 50))
        await writes(request)
        atOnce--
      },
    })
    expect(those(events, 'run-finished')[0]).toMatchObject({ end: 'done', completed: expect.any(Array) })
    expect(subjects(root).toSorted()).toEqual(IDS.map((id) => `${id}: Do ${id}`))
    expect(git(root, 'status', '--porcelain')).toBe('')
    for (const id of IDS) expect(read(root, `src/${id}.txt`)).toBe(`${id}\n`)
    expect(most).toBe(3)
    expect([...seen].every((path) => !path.startsWith(`${root}/`))).toBe(true)
    expect(git(root, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  })
})
