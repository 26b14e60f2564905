import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { PROGRAM, projectFolder } from './repository.ts'

/** A cache of its own, what a command prints with it, and the files that are in it. */
function withCache() {
  const cache = join(projectFolder({}), 'cache')
  const folder = join(cache, 'ralph/compiled')
  const ralph = (args: readonly string[] = ['--version'], env: Readonly<Record<string, string>> = {}) => {
    const own = { ...process.env, XDG_CACHE_HOME: cache, ...env }
    const options = {
      encoding: 'utf8',
      env: own,
      cwd: cache,
      timeout: 20_000,
      killSignal: 'SIGKILL',
    } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], options)
    return { status, stdout, stderr }
  }
  const engines = (): string[] => readdirSync(folder).toSorted()
  const files = (engine = engines()[0]!): string[] =>
    readdirSync(join(folder, engine)).map((name) => join(folder, engine, name))
  const times = (): number[] => files().map((file) => statSync(file).mtimeMs)
  mkdirSync(cache)
  return { cache, ralph, engines, files, times }
}

const VERSION = { status: 0, stdout: `${manifest.version}\n`, stderr: '' }

describe('what the engine compiled', () => {
  it('is kept, and used as it is from then on', () => {
    const { ralph, engines, files, times } = withCache()
    expect(ralph()).toEqual(VERSION)
    expect(engines()).toEqual([`${manifest.version}_${process.version}_${process.arch}`])
    expect(files().map((file) => file.split('/').at(-1))).toContain('main.cjs')
    const before = times()
    expect(ralph()).toEqual(VERSION)
    expect(times()).toEqual(before)
  })

  it('is replaced where it is of another build, or not whole', () => {
    const damages: readonly ((bytes: Buffer) => Buffer)[] = [
      (bytes) => bytes.fill(0x2f, 0, 19),
      (bytes) => bytes.fill(0, 1000),
      (bytes) => bytes.subarray(0, -1000),
      () => Buffer.alloc(0),
    ]
    for (const damage of damages) {
      const { ralph, files } = withCache()
      ralph()
      const whole = files().map((file) => readFileSync(file))
      for (const [index, file] of files().entries()) writeFileSync(file, damage(Buffer.from(whole[index]!)))
      expect(ralph()).toEqual(VERSION)
      const starts = files().map((file) => readFileSync(file).toString('latin1', 0, 20))
      expect(starts).toEqual(whole.map((bytes) => bytes.toString('latin1', 0, 20)))
    }
  })

  it.skipIf(process.platform === 'win32')(
    'finds packages that are not part of the program as at first',
    () => {
      const { cache, ralph } = withCache()
      const config = { agent: 'command', command: 'cat', pty: true, gates: [] }
      writeFileSync(join(cache, 'ralph.config.json'), JSON.stringify(config))
      mkdirSync(join(cache, 'docs/tasks'), { recursive: true })
      spawnSync('git', ['init', '--quiet'], { cwd: cache })
      const [first, ...later] = [1, 2, 3].map(
        () => /is to have a terminal.*/.exec(ralph(['doctor']).stdout)?.[0],
      )
      expect(later).toEqual([first, first])
    },
  )

  it('is kept apart for other options of the engine', () => {
    const { ralph, engines } = withCache()
    for (const options of ['', '--max-old-space-size=300'])
      expect(ralph(['--version'], { NODE_OPTIONS: options })).toEqual(VERSION)
    expect(engines().map((name) => name.includes('--max-old-space-size=300'))).toEqual([false, true])
  })

  it('is not kept where a person wants none, or the cache can be neither made nor written', () => {
    const off = withCache()
    expect(off.ralph(['--version'], { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual(VERSION)
    expect(off.ralph(['--version'], { XDG_CACHE_HOME: '', HOME: '', USERPROFILE: '' })).toEqual(VERSION)
    expect(readdirSync(off.cache)).toEqual([])

    const closed = withCache()
    writeFileSync(join(closed.cache, 'ralph'), 'a file in the place of the folder')
    expect(closed.ralph()).toEqual(VERSION)
  })

  it('imports nothing by itself, which kept code cannot', () => {
    const folder = fileURLToPath(new URL('../dist/program', import.meta.url))
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    expect(texts.filter((text) => /\bimport\s*\(/.test(text))).toEqual([])
    expect(texts.join('').match(/\bimportModule\(/g)?.length).toBeGreaterThan(1)
  })

  it.skipIf(process.platform === 'win32')('leaves no draft where the disk is full', () => {
    const { cache } = withCache()
    // The shell's limit on the size of a file stands for the disk's; the signal of it must not end the process.
    const script = `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`
    const env = { ...process.env, XDG_CACHE_HOME: cache }
    const options = { encoding: 'utf8', env } as const
    const { status, stdout, stderr } = spawnSync(
      'sh',
      ['-c', script, process.execPath, PROGRAM, '--version'],
      options,
    )
    expect({ status, stdout, stderr }).toEqual(VERSION)
    const names = readdirSync(cache, { recursive: true }).map(String)
    expect(names).toContain(join('ralph', 'compiled'))
    expect(names.filter((name) => name.endsWith('.draft'))).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('can be read by no other user', () => {
    const { ralph, cache, files } = withCache()
    chmodSync(cache, 0o755)
    ralph()
    expect(statSync(join(files()[0]!, '../..')).mode & 0o077).toBe(0)
  })
})
