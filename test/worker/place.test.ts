import { describe, expect, it } from 'vitest'
import { placeFor, takes, type Loaded } from '../../src/engine/workers/roster.ts'
import { hasPassword, queueUrl, shownUrl } from '../../src/config/queue-url.ts'

const worker = (
  name: string,
  more: { places?: number; labels?: readonly string[]; busy?: number } = {},
): Loaded => {
  const { places = 1, labels = [], busy = 0 } = more
  const sign = { protocol: 1, version: '1', name, pid: 1, places, labels }
  return { ticket: { of: 'workers', id: name }, sign, busy }
}

describe('the worker for a job', () => {
  const chosen = (labels: readonly string[], ...workers: readonly Loaded[]): string | null =>
    placeFor(labels, workers)?.sign.name ?? null

  it('is one with a free place', () => {
    expect(chosen([], worker('full', { busy: 1 }), worker('free'))).toBe('free')
    expect(chosen([], worker('full', { busy: 1 }))).toBe(null)
    expect(chosen([], worker('half', { places: 2, busy: 1 }), worker('empty', { places: 2 }))).toBe('empty')
  })

  it('is the one that has the conversation, as long as it has a free place', () => {
    const [ada, bob] = [worker('ada', { places: 2, busy: 1 }), worker('bob', { places: 4 })]
    expect(placeFor([], [ada, bob], 'ada')).toBe(ada)
    expect(placeFor([], [{ ...ada, busy: 2 }, bob], 'ada')).toBe(bob)
  })

  it('has one of its labels, or takes all', () => {
    expect(takes([], ['Heavy'])).toBe(true)
    expect(takes(['heavy', 'api'], ['Heavy', 'web'])).toBe(true)
    expect(takes(['api'], ['Heavy', 'web'])).toBe(false)
    const [api, any] = [worker('api', { labels: ['api'] }), worker('any', { places: 4 })]
    // Who takes all is left to what nobody else takes.
    expect(chosen(['api'], any, api)).toBe('api')
    expect(chosen(['web'], any, api)).toBe('any')
    expect(chosen(['web'], api)).toBe(null)
  })
})

describe('the URL of a queue', () => {
  const from = (named: string | null, env: Record<string, string> = {}, configured: string | null = null) =>
    queueUrl(named, { env, configured })

  it('is shown without what is secret in it', () => {
    expect(shownUrl('postgres://me:secret@db/x?sslmode=require&password=secret')).toBe(
      'postgres://me@db/x?sslmode=require',
    )
    expect(shownUrl('embedded')).toBe('embedded')
    expect(hasPassword('postgres://db/x?password=secret')).toBe(true)
  })

  it('is what was named, else what the environment, else what the configuration says', () => {
    const env = { RALPH_QUEUE: 'postgres://me:secret@db/x' }
    expect(from('', env, 'embedded')).toBe('postgres://me:secret@db/x')
    expect(from('', {}, 'embedded')).toBe('embedded')
    expect(from('postgres://db/y', env)).toBe('postgres://db/y')
    expect(from(null)).toBe(null)
  })

  it('takes its password from the environment, and from no argument', () => {
    const env = { RALPH_QUEUE: 'postgres://me:secret@db/x' }
    expect(from('postgres://me@db/x', env)).toBe('postgres://me:secret@db/x')
    expect(() => from('postgres://me:secret@db/x')).toThrow('a password on the command line')
    expect(() => from('postgres://db/x?password=secret')).toThrow('a password on the command line')
  })

  it('is that of a Postgres database, or embedded', () => {
    expect(() => from('redis://db')).toThrow('redis://db is no queue')
    expect(() => from('', { RALPH_QUEUE: 'http://me:secret@db' })).toThrow('http://me@db/ is no queue')
  })
})
