import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readLog } from '../../src/git/log.ts'
import { composeMessage, trailerValue, trailerValues } from '../../src/git/trailers.ts'
import { doorOf, git, makeRepository } from '../repository.ts'

const log = (root: string, query?: Parameters<typeof readLog>[1]) => readLog(doorOf(root), query)

describe('history', () => {
  it('gives back subject, body and trailers as they were composed', async () => {
    const root = makeRepository()
    const body =
      '# Heads\n\nTwo paragraphs, one\nwith a break.\n\n- list: item\n\n---\n\nTask: T-999 in the middle\n\nlast'
    const message = composeMessage({
      subject: 'T-004: Add the\nlogin form',
      body,
      trailers: [
        { key: 'Task', value: 'T-004' },
        { key: 'Gates-Changed', value: 'package.json' },
        { key: 'Gates-Changed', value: 'two\nlines' },
      ],
    })
    git(root, 'commit', '-q', '--allow-empty', '--cleanup=whitespace', '-m', message)
    const [entry] = await log(root)
    expect(entry).toMatchObject({ subject: 'T-004: Add the login form', body, authorName: 'Ada' })
    expect(entry?.trailers).toEqual([
      { key: 'Task', value: 'T-004' },
      { key: 'Gates-Changed', value: 'package.json' },
      { key: 'Gates-Changed', value: 'two lines' },
    ])
    expect(trailerValues(entry?.trailers ?? [], 'gates-changed')).toEqual(['package.json', 'two lines'])
    expect(trailerValue(entry?.trailers ?? [], 'Seal')).toBeNull()
  })

  it('reads messages of other people: no body, no subject, no trailers, other encodings', async () => {
    const root = makeRepository()
    git(root, 'commit', '-q', '--allow-empty', '-m', 'Only a subject')
    git(root, 'commit', '-q', '--allow-empty', '--allow-empty-message', '-m', '')
    git(root, '-c', 'i18n.commitEncoding=latin1', 'commit', '-q', '--allow-empty', '-F', latin1(root))
    git(root, 'commit', '-q', '--allow-empty', '-m', 'Signed', '-m', 'Signed-off-by: Ada <ada@example.com>')
    const entries = await log(root)
    expect(entries.map((entry) => [entry.subject, entry.body])).toEqual([
      ['Signed', ''],
      ['für', 'möglich'],
      ['', ''],
      ['Only a subject', ''],
      ['Begin', ''],
    ])
    expect(entries[0]?.trailers).toEqual([{ key: 'Signed-off-by', value: 'Ada <ada@example.com>' }])
  })

  it('finds only commits with a trailer', async () => {
    const root = makeRepository()
    git(root, 'commit', '-q', '--allow-empty', '-m', 'T-001: One', '-m', 'Task: T-001')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'Speaks of T-001', '-m', 'The Task: T-001 was hard')
    expect((await log(root, { withTrailer: 'Task' })).map((entry) => entry.subject)).toEqual(['T-001: One'])
  })

  it('is not led astray by what the person has set for git log', async () => {
    const root = makeRepository()
    git(root, 'config', 'log.showSignature', 'true')
    git(root, 'config', 'color.ui', 'always')
    git(root, 'config', 'log.decorate', 'full')
    git(root, 'config', 'format.pretty', 'oneline')
    expect(await log(root)).toMatchObject([{ hash: git(root, 'rev-parse', 'HEAD'), subject: 'Begin' }])
  })
})

function latin1(root: string): string {
  const file = `${root}/.git/message`
  writeFileSync(file, Buffer.from('für\n\nmöglich\n', 'latin1'))
  return file
}
