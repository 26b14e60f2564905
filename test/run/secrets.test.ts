import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { secretValues } from '../../src/process/cage/rules.ts'
import { git, makeFolder, put } from '../repository.ts'
import { makeProject, runAll, those, trailer } from './harness.ts'
import type { Deed } from './ports.ts'

const OWN = 'correct-horse-battery-staple'
// In parts, so that no scanner takes this file for a leak.
const GITHUB = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
const STRIPE = ['sk', 'live', '4eC39HqLyjWDarjtT1zdp7dc'].join('_')
const PRIVATE = [
  '-----BEGIN RSA ',
  'PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA ',
  'PRIVATE KEY-----\n',
].join('')
const TOKEN = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTYifQ', 'dozjgNryP4J3jVmNHl0w'].join('.')

async function runWith(deed: Deed, allow: readonly string[] = [], files: Record<string, string> = {}) {
  const root = makeProject(1, files)
  const events = await runAll({
    root,
    deed,
    options: { retries: 0 },
    ports: { secrets: { values: [OWN], allow } },
  })
  const [end] = those(events, 'attempt-finished')
  const record = git(root, 'for-each-ref', '--format=%(refname)', 'refs/ralph/attempts')
  return { root, end, record, isDone: those(events, 'task-completed').length > 0 }
}

describe('a secret in the work', () => {
  it.each([
    ['of the person', 'src/a.ts', `const key = '${OWN}'\n`, 'a secret of yours'],
    ['of the person, in a test', 'test/a.test.ts', `const key = '${OWN}'\n`, 'a secret of yours'],
    ['of GitHub', 'src/a.ts', `\nconst key = '${GITHUB}'\n`, 'a GitHub token'],
    ['of Stripe', 'config/pay.yml', `key: ${STRIPE}\n`, 'a Stripe key'],
    ['that is a private key', 'keys/id_rsa', PRIVATE, 'a private key'],
    ['beside the word example', 'src/a.ts', `get('https://example.com?key=${OWN}')\n`, 'a secret of yours'],
    ['beside a comment', 'src/a.ts', `const key = '${GITHUB}' // an example\n`, 'a GitHub token'],
    ['in a file with other bytes', 'a.bin', `\0\x01${STRIPE}\0\n`, 'a Stripe key'],
    ['in a long line', 'src/a.ts', `${'x '.repeat(500_000)}${GITHUB}\n`, 'a GitHub token'],
  ])('%s fails the attempt, and is blanked in what is kept', async (_, path, text, kind) => {
    const { root, end, record } = await runWith(({ cwd }) => put(cwd, { [path]: text }))
    expect(end?.outcome).toBe('secret')
    expect(end?.reason).toMatch(new RegExp(`^it would commit a secret: ${path}:\\d: ${kind}$`))
    const kept = git(root, 'show', `${record}:${path}`)
    expect(kept).toContain('<blanked by ralph>')
    for (const secret of [OWN, GITHUB, STRIPE, 'MIIEpAIBAAKCAQEA']) expect(kept).not.toContain(secret)
    expect(JSON.stringify(end)).not.toContain(text.trim())
  })

  it('is blanked in the words of the agent', async () => {
    const { root, isDone } = await runWith(({ cwd }) => {
      put(cwd, { 'src/a.ts': '' })
      return { message: `I used ${OWN}.` }
    })
    expect(isDone).toBe(true)
    expect(git(root, 'show', 'HEAD')).toContain('I used <blanked by ralph>.')
    expect(git(root, 'show', 'HEAD')).not.toContain(OWN)
  })

  it.each([
    ['that may be an example', 'test/a.test.ts', GITHUB, 'test/a.test.ts:1: a GitHub token'],
    ['that may be none', 'src/a.ts', TOKEN, 'src/a.ts:1: a JSON Web Token'],
    ['in a line as in .env', 'deploy.env', 'DB_PASSWORD=hunter2hunter2', 'deploy.env:1: a line as in .env'],
  ])('%s is only named', async (_, path, text, noticed) => {
    const { root, isDone } = await runWith(({ cwd }) => put(cwd, { [path]: `${text}\n` }))
    expect([isDone, trailer(root, 'Noticed')]).toEqual([true, noticed])
  })

  it.each([
    ['in a lock file', 'package-lock.json', []],
    ['where the configuration allows it', 'seed/keys.txt', ['seed/**']],
  ] as const)('is not looked for %s', async (_, path, allow) => {
    const { root, isDone } = await runWith(({ cwd }) => put(cwd, { [path]: `${GITHUB}\n` }), allow)
    expect([isDone, trailer(root, 'Noticed')]).toEqual([true, ''])
  })

  it('that was there before is no matter, whatever its line or file', async () => {
    const files = { 'src/a.ts': `const key = '${GITHUB}'\n` }
    const moved = await runWith(
      ({ cwd }) => {
        rmSync(join(cwd, 'src/a.ts'))
        put(cwd, { 'src/b.ts': `const key =\n  '${GITHUB}'\n` })
      },
      [],
      files,
    )
    expect(moved.isDone).toBe(true)
    const other = await runWith(
      ({ cwd }) => put(cwd, { 'src/a.ts': `const keys = ['${GITHUB}', '${STRIPE}']\n` }),
      [],
      files,
    )
    expect(other.end?.reason).toBe('it would commit a secret: src/a.ts:1: a Stripe key')
  })

  // Where the time grows with the square of the file, this never ends.
  it.each(['-----BEGIN PRIVATE KEY-----\n', 'eyJ0-', 'TOKEN', 'xoxa-', 'ghp_a'])(
    'is looked for among many times %j',
    async (part) => {
      const text = part.repeat(1_000_000 / part.length)
      const { end } = await runWith(({ cwd }) => put(cwd, { 'src/a.ts': text }))
      expect(end).toBeDefined()
    },
  )

  it('that is not new in a file is no matter', async () => {
    const { root, isDone } = await runWith(({ cwd }) => put(cwd, { 'README.md': '# shop\n\nNew.\n' }))
    expect([isDone, trailer(root, 'Noticed')]).toEqual([true, ''])
  })
})

it('a binary file is named', async () => {
  const { root, isDone } = await runWith(({ cwd }) => put(cwd, { 'logo.png': 'PNG\0\0' }))
  expect([isDone, trailer(root, 'Noticed')]).toEqual([true, 'logo.png: binary'])
})

it('a very large file fails the attempt, a large one is named', async () => {
  const large = await runWith(({ cwd }) => put(cwd, { 'data.bin': 'x'.repeat(5_000_001) }))
  expect([large.isDone, trailer(large.root, 'Noticed')]).toEqual([true, 'data.bin: over 5 MB'])
  const { end } = await runWith(({ cwd }) => put(cwd, { 'data.bin': 'x'.repeat(50_000_001) }))
  expect([end?.outcome, end?.reason]).toEqual(['too-large', 'over 50 MB: data.bin'])
})

it('the secrets of a person are in hidden variables, and in files that git does not track', () => {
  const top = makeFolder()
  put(top, {
    '.env': `A=${OWN}\nexport B="second-secret-of-mine"\nSHORT=abc\nAPI=http://localhost:3000/api/v1\nDATA=./var/lib/shop/data\nDB=postgres://shop:hunter2@db/shop\n`,
    'api/.env.local': 'C=third-secret-of-mine\n',
    '.env.example': 'D=not-a-secret-of-anyone\n',
    '.env.test': 'E=tracked-and-no-secret\n',
  })
  const env = { GITHUB_TOKEN: 'fourth-secret-of-mine', HOME: '/home/somebody-with-a-name' }
  const values = secretValues({ top, tracked: ['.env.test'] }, env)
  expect(values.toSorted()).toEqual([
    OWN,
    'fourth-secret-of-mine',
    'postgres://shop:hunter2@db/shop',
    'second-secret-of-mine',
    'third-secret-of-mine',
  ])
})
