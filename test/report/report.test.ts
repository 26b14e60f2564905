import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { html, renderNotes } from '../../src/screen/page/html.ts'
import { ralph } from '../cli/ralph.ts'
import { commit, env, git, makeFolder, put } from '../repository.ts'
import { repository, run } from '../cli/script-repository.ts'
import { HOSTILE, makeBusyHistory } from './busy-history.ts'

async function reportOf(root: string, ...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await ralph(['report', '-o', '-', ...argv], { cwd: root, env })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

function busy(tasks: number, text?: string): string {
  const root = makeFolder()
  makeBusyHistory(root, text === undefined ? { tasks } : { tasks, text })
  return root
}

describe('ralph report', () => {
  it('is one file with all that git tells', async () => {
    const root = busy(30)
    const { stdout } = await ralph(['report', '--json'], { cwd: root, env })
    const { bytes, file, completed, attempts } = JSON.parse(stdout) as Record<string, unknown>
    const page = readFileSync(join(root, '.ralph/report.html'), 'utf8')
    expect([file, bytes, completed, attempts]).toEqual([
      '.ralph/report.html',
      Buffer.byteLength(page),
      30,
      17,
    ])
    expect(git(root, 'status', '--porcelain')).toBe('')
    for (const part of [
      'Progress',
      'Time line',
      'Cost and tokens',
      'What failed',
      'What was done',
      'needs which',
    ])
      expect(page).toMatch(new RegExp(`<h2 id="[a-z]+">[^<]*${part}`))
    expect(page).toContain('30 of 34 done')
    expect(page).toContain('<th scope="row">claude</th>')
    expect(page).toContain('test failed: refuses an empty password')
    expect(page).toContain('needs a key that nobody has')
    expect(page).toContain('<article id="T-0012">')
    expect(page).toContain('<li>checked on <em>blur</em> and on <strong>submit</strong></li>')
    expect([...page.matchAll(/<h2 id="([a-z]+)"/g)].map(([, id]) => id)).toEqual([
      'progress',
      'completed',
      'failures',
      'time',
      'spending',
      'graph',
    ])
    expect(page).toMatch(/<rect class="failed"[^>]*><title>T-0007, attempt 2: gate-failed, 3m 20s<\/title>/)
  })

  it('asks nothing of a network and runs nothing, whatever stands in tasks', async () => {
    const page = await reportOf(busy(12, HOSTILE))
    const tags = [...page.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, name]) => name!)
    const allowed =
      'html head meta link title style body a header h1 h2 h3 h5 p dl div dt dd nav ul ol li main section table thead tbody tr th td svg rect line text figure figcaption article em strong code pre span b footer details summary'
    expect(tags.filter((name) => !allowed.split(' ').includes(name))).toEqual([])
    const attributes = [...page.matchAll(/<[a-z][^>]*>/g)].flatMap(([tag]) =>
      [...tag.replaceAll(/"[^"]*"/g, '""').matchAll(/\s([a-z:-]+)=/gi)].map(([, name]) => name!),
    )
    expect(attributes.filter((name) => /^(?:src|srcset|style|on.*|action|data)$/.test(name))).toEqual([])
    expect([...page.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replace(/#.*/, '#'))).not.toContain(
      'javascript:alert(1)',
    )
    expect(page.match(/<link [^>]*>/g)).toEqual(['<link rel="icon" href="data:," />'])
    expect(page).toContain('&lt;script&gt;')
    expect(page.match(/<title>(?=[^<]*what ralph did)/g)).toHaveLength(1)
  })

  it('is of a range where one is asked for', async () => {
    const root = busy(20)
    const articles = async (since: string): Promise<number> =>
      ((await reportOf(root, '--since', since)).match(/<article /g) ?? []).length
    expect(await articles('HEAD~5')).toBe(5)
    const half = await reportOf(root, '--since', 'HEAD~15..HEAD~10')
    expect(half.match(/<article id="T-\d+"/g)).toEqual(
      [10, 9, 8, 7, 6].map((task) => `<article id="T-00${String(task).padStart(2, '0')}"`),
    )
    expect(half).toContain('10 of 24 done')
    expect(half).not.toContain('T-0018, attempt')
    expect(await ralph(['report', '--since', 'nonsense'], { cwd: root, env })).toMatchObject({ code: 2 })
  })

  it('has the numbers that ralph list and ralph log have, whoever did the tasks', async () => {
    const root = repository({
      'T-001': 'echo 1 > one',
      'T-002': 'true',
      'T-003': 'true',
      'T-004': 'true',
      'T-005': 'exit 3',
      'T-006': 'true',
      'T-007': 'true',
      'T-008': 'true',
    })
    const ask = async (...argv: string[]): Promise<Record<string, unknown>> => {
      const { code, stdout, stderr } = await ralph([...argv, '--json'], { cwd: root, env })
      expect([argv, code, stderr]).toEqual([argv, 0, ''])
      return JSON.parse(stdout) as Record<string, unknown>
    }
    const edit = (id: string, change: (text: string) => string): void => {
      const file = `docs/tasks/${id}.md`
      commit(root, `Edit ${id}`, { [file]: change(readFileSync(join(root, file), 'utf8')) })
    }
    await run(root, 'T-001')
    await ask('reopen', 'T-001', 'not enough')
    edit('T-001', (text) => text.replace('echo 1', 'echo more'))
    await run(root, 'T-001')
    put(root, { two: '2' })
    await ask('complete', 'T-002')
    commit(root, 'Do the third', { three: '3' })
    const done = git(root, 'rev-parse', '--short=10', 'HEAD')
    edit('T-003', (text) => text.replace('Status**: TODO', `Status**: DONE\n- **Commit**: ${done}`))
    await ask('block', 'T-004', 'which license?')
    await run(root, 'T-005', '--retries', '0')
    edit('T-006', (text) => `${text}\n## Blocked\n\nThe lawyers read it.\n`)
    edit('T-007', (text) => text.replace(/Depends\*\*: .*/, 'Depends**: T-004'))
    edit('T-008', (text) => text.replace('Status**: TODO', 'Status**: Maybe'))

    const { counts, tasks } = await ask('list')
    expect(counts).toEqual({ TODO: 2, DONE: 3, BLOCKED: 2 })
    const page = await reportOf(root)
    const tiles = [...page.matchAll(/<dt>([^<]*)<\/dt>\s*<dd>([^<]*)<\/dd>/g)].map(([, ...tile]) => tile)
    expect(tasks).toHaveLength(8)
    expect(tiles.slice(0, 4)).toEqual([
      ['done of all', '3 of 8'],
      ['to do', '2'],
      ['blocked', '2'],
      ['without a clear status', '1'],
    ])
    expect(tiles).toContainEqual([' T-006 Do T-006 (TODO, with a Blocked section) ', 'The lawyers read it.'])
    const { completions = [] } = await ask('log')
    expect(completions).toHaveLength(4)
    expect(page.match(/<article/g)).toHaveLength(4)
    expect((await ask('stats'))['total']).toMatchObject({ tasks: 3 })
    // The anchor is at the last completion.
    expect(page.match(/<article id="T-001"/g)).toHaveLength(1)
  })

  it('stays small with a thousand tasks', async () => {
    const page = await reportOf(busy(1000))
    expect(page.match(/<article /g)).toHaveLength(1000)
    expect(Buffer.byteLength(page)).toBeLessThan(3e6)
    // What is not folded fits a few screens.
    const open = page.slice(page.indexOf('<main')).replaceAll(/<details>.*?<\/details>/gs, '')
    expect(open.match(/<tr>|<article|<dt>|<rect/g)!.length).toBeLessThan(400)
    expect(page.match(/<summary>[^<]*Group 17[^<]*\(40 tasks\)<\/summary>/g)).toHaveLength(1)
  })

  it('shows equal failures once, and no empty column', async () => {
    const page = await reportOf(busy(12))
    const section = page.slice(page.indexOf('id="failures"'), page.indexOf('id="time"'))
    expect(section.match(/15 min were up/g)).toHaveLength(1)
    expect(section.match(/needs a key that nobody has/g)).toHaveLength(1)
    expect(section).toContain('<td data-name="times">2</td>')
    expect(section).not.toContain('>agent</th>')
  })

  it('says so where nothing has happened, and where it cannot be written', async () => {
    const root = repository({ 'T-001': 'true' })
    const page = await reportOf(root)
    expect(page).toContain('No task was completed in this part of history.')
    expect(page).toContain('Nothing failed, and no task is blocked.')
    expect(await ralph(['report', '-o', 'package.json/page.html'], { cwd: root, env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('package.json/page.html cannot be written') as unknown,
    })
    expect(git(root, 'status', '--porcelain')).toBe('')
  })
})

describe('what is put into a page', () => {
  it('stays text between tags and in quotes', () => {
    expect(html`<p title="${`"'<&>`}">${'<b>\u0007'}${null}${3}</p>`.html).toBe(
      '<p title="&quot;&#39;&lt;&amp;&gt;">&lt;b&gt;\u24073</p>',
    )
  })

  it.each([
    ['<script>x</script>', '&lt;script&gt;x&lt;/script&gt;'],
    ['[x](javascript:alert(1))', '<p><a rel="noopener noreferrer nofollow" href="">x</a></p>'],
    ['# Big', '<h5>Big</h5>'],
    ['![a](http://x/y.png)', '<p>!<a rel="noopener noreferrer nofollow" href="http://x/y.png">a</a></p>'],
    ['`<h1>`', '<p><code>&lt;h1&gt;</code></p>'],
  ])('of notes %j', (text, expected) => {
    expect(renderNotes(text).html).toBe(expected)
  })
})
