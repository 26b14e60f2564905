import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { USUAL_FOLDERS } from '../../src/backlog/task-folders.ts'
import { Answers } from '../../src/project/answers.ts'
import { ENV, git, makeFolder, makeRepository, put } from '../repository.ts'

/** Counts how often the answer is made anew. */
function answers() {
  const root = makeRepository({ 'docs/tasks/T-001.md': 'one\n' })
  const kept = new Answers(ENV)
  let made = 0
  return {
    root,
    ask: (now: Date, question = 'next') =>
      kept.to(question, { place: { root, folders: USUAL_FOLDERS }, now }, async () => String(++made)),
  }
}

const later = (seconds: number): Date => new Date(Date.now() + seconds * 1000)

describe('an answer', () => {
  it('is given again as long as no file has changed, and for a minute', async () => {
    const { ask } = answers()
    expect(await ask(later(10))).toBe('1')
    expect(await ask(later(20))).toBe('1')
    expect(await ask(later(20), 'list')).toBe('2')
    expect(await ask(later(71))).toBe('3')
  })

  it('is another one once a file is changed, added or removed', async () => {
    const { root, ask } = answers()
    const file = join(root, 'docs/tasks/T-001.md')
    expect(await ask(later(10))).toBe('1')
    writeFileSync(file, 'two\n')
    expect(await ask(later(10))).toBe('2')
    // The same size and the same time: that of its change tells it.
    utimesSync(file, new Date(0), new Date(0))
    expect(await ask(later(10))).toBe('3')
    put(root, { 'docs/tasks/T-002.md': 'x', 'ralph.config.json': '{}' })
    expect(await ask(later(10))).toBe('4')
  })

  it('is another one once there is a commit, a record of an attempt, or another branch', async () => {
    const { root, ask } = answers()
    expect(await ask(later(10))).toBe('1')
    git(root, 'commit', '--quiet', '--allow-empty', '-m', 'One more')
    expect(await ask(later(10))).toBe('2')
    expect(await ask(later(10))).toBe('2')
    git(root, 'update-ref', 'refs/ralph/attempts/T-001/1', 'HEAD')
    expect(await ask(later(10))).toBe('3')
    git(root, 'switch', '--quiet', '--create', 'side')
    expect(await ask(later(10))).toBe('4')
  })

  it('is not kept where there is no repository yet', async () => {
    const kept = new Answers(ENV)
    let made = 0
    const place = { root: makeFolder(), folders: USUAL_FOLDERS }
    const ask = (): Promise<string> => kept.to('next', { place, now: later(10) }, async () => String(++made))
    expect([await ask(), await ask()]).toEqual(['1', '2'])
  })

  it('is not kept of files that were changed just now', async () => {
    const { ask } = answers()
    expect(await ask(later(0))).toBe('1')
    expect(await ask(later(0))).toBe('2')
  })
})
