import { chmodSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { openGit } from '../../src/git/door.ts'
import { ignoredPaths } from '../../src/git/repository.ts'
import { collectMaterials } from '../../src/prompt/collect.ts'
import type { Material } from '../../src/prompt/files.ts'
import { HAS_LINKS, makeProject, type TestProject } from './project.ts'

const nothingIgnored = () => Promise.resolve(new Set<string>())

async function collect(project: TestProject, ...names: readonly string[]): Promise<readonly Material[]> {
  const where = { root: project.root, isIgnored: nothingIgnored }
  const [materials = []] = await collectMaterials(where, [names], { except: [], room: 100_000 })
  return materials
}

const brief = (materials: readonly Material[]): readonly string[] =>
  materials.map((material) => {
    if (material.kind === 'shown') return `${material.path}${material.listed ? ' (listed)' : ''}`
    if (material.kind === 'named') return `${material.path}: ${material.reason}`
    return `${material.pattern} -> ${material.paths.join(' ')}`
  })

describe('the files that a prompt takes in', () => {
  it.runIf(HAS_LINKS)('are judged by where a link leads', async () => {
    const outside = makeProject({ 'secret.txt': 'secret' })
    const project = makeProject({ 'src/a.ts': 'a', 'src/b.ts': 'b' })
    project.link('out.txt', `${outside.root}/secret.txt`)
    project.link('away', outside.root)
    project.link('in.ts', 'src/a.ts')
    project.link('code', 'src')
    project.link('nowhere', 'gone.ts')
    project.link('loop', 'loop')
    expect(
      brief(
        await collect(
          project,
          'out.txt',
          'away/secret.txt',
          'away/',
          'away/*.txt',
          'in.ts',
          'code',
          'nowhere',
          'loop',
        ),
      ),
    ).toEqual([
      'out.txt: outside',
      'away/secret.txt: outside',
      'away/: outside',
      'away/*.txt: outside',
      'in.ts',
      'code/ -> code/a.ts code/b.ts',
      'code/b.ts (listed)',
      'nowhere: missing',
      'loop: unreadable',
    ])
  })

  it('are not those outside, by whatever way they are named', async () => {
    const project = makeProject({ 'a.ts': 'a' })
    const names = ['../a', '/etc/passwd', 'x/../../b', '..', '/', `${project.root}-other/a.ts`, '../**/*.ts']
    expect(brief(await collect(project, ...names))).toEqual(names.map((name) => `${name}: outside`))
    expect(brief(await collect(project, `${project.root}/a.ts`))).toEqual(['a.ts'])
  })

  it.runIf(HAS_LINKS)('are told apart from what is no file, no text or no name', async () => {
    const project = makeProject({ 'a.bin': new Uint8Array([1, 0, 2]), 'b.ts': '\ufeffb', 'c.ts': 'c' })
    execFileSync('mkfifo', [`${project.root}/pipe`])
    const found = await collect(
      project,
      'a.bin',
      'b.ts',
      'pipe',
      'nul\0',
      'x'.repeat(5000),
      'c.ts/d',
      '',
      '  ',
    )
    expect(brief(found)).toEqual([
      'a.bin: binary',
      'b.ts',
      'pipe: special',
      'nul\0: missing',
      `${'x'.repeat(5000)}: missing`,
      'c.ts/d: missing',
    ])
    expect(found[1]).toMatchObject({ text: 'b', bytes: 4 })
  })

  it.skipIf(process.getuid?.() === 0)('may be closed to us', async () => {
    const project = makeProject({ 'a.ts': 'a' })
    chmodSync(`${project.root}/a.ts`, 0)
    expect(brief(await collect(project, 'a.ts'))).toEqual(['a.ts: unreadable'])
  })

  it('are given once, in the first group that names them', async () => {
    const project = makeProject({
      'docs/a.md': 'a',
      'src/b.ts': 'b',
      'src/c.ts': 'c',
      'docs/tasks/T-001.md': '#',
    })
    const where = { root: project.root, isIgnored: nothingIgnored }
    const groups = await collectMaterials(
      where,
      [
        ['docs/a.md', './docs/a.md', 'src/'],
        ['src/b.ts', 'docs/a.md', 'src/', 'src/*.ts', 'docs/tasks/T-001.md'],
      ],
      { except: ['docs/tasks/T-001.md'], room: 100_000 },
    )
    expect(groups.map(brief)).toEqual([
      ['docs/a.md', 'src/ -> src/b.ts src/c.ts', 'src/c.ts (listed)'],
      ['src/b.ts', 'src/*.ts -> src/b.ts src/c.ts'],
    ])
  })

  it('of a folder come in the order of their code units, as far as there is room', async () => {
    const project = makeProject({
      'src/b.ts': 'bb',
      'src/B.ts': 'BB',
      'src/ä.ts': 'ä',
      'src/a/z.ts': 'zz',
      'src/logo.png': new Uint8Array(9),
    })
    const where = { root: project.root, isIgnored: nothingIgnored }
    const [materials = []] = await collectMaterials(where, [['src']], { except: [], room: 103 })
    expect(brief(materials)).toEqual([
      'src/ -> src/B.ts src/a/z.ts src/b.ts src/logo.png src/ä.ts',
      'src/B.ts (listed)',
      'src/a/z.ts (listed)',
    ])
  })

  it('of a folder are none of what git itself keeps there', async () => {
    const project = makeProject({ '.git/config': 'token', 'sub/.git/config': 'token', 'sub/a.ts': 'a' })
    expect(brief(await collect(project, '**/*'))).toEqual(['**/* -> sub/a.ts', 'sub/a.ts (listed)'])
    expect(brief(await collect(project, '.git/config', '.git'))).toEqual([
      '.git/config: ignored',
      '.git: ignored',
    ])
  })

  it('of a folder are not read for ever, however many and small they are', async () => {
    const project = makeProject(
      Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`src/${index}.ts`, ''])),
    )
    const where = { root: project.root, isIgnored: nothingIgnored }
    const [materials = []] = await collectMaterials(where, [['src']], { except: [], room: 1000 })
    expect(materials).toHaveLength(1 + 10)
    expect(materials[0]).toMatchObject({ kind: 'listing', paths: { length: 50 } })
  })

  it('are known as binary by any of their bytes', async () => {
    const [early, late] = [new Uint8Array(9000).fill(97), new Uint8Array(9000).fill(97)]
    early[10] = 0
    late[8999] = 0
    const project = makeProject({ 'early.bin': early, 'late.bin': late, 'long.txt': 'é'.repeat(9000) })
    expect(brief(await collect(project, 'early.bin', 'late.bin', 'long.txt'))).toEqual([
      'early.bin: binary',
      'late.bin: binary',
      'long.txt',
    ])
  })

  it.runIf(HAS_LINKS)('are not those that git ignores, unless it tracks them', async () => {
    const project = makeProject({
      '.gitignore': '*.log\ndist/\n!keep.log\n',
      'a.log': 'a',
      'keep.log': 'k',
      'tracked.log': 't',
      'dist/out.js': 'o',
      'src/b.log': 'b',
      'src/c.ts': 'c',
    })
    project.link('innocent.txt', 'a.log')
    const env = { PATH: process.env['PATH'], HOME: project.root }
    const git = (...args: string[]): void =>
      void execFileSync('git', args, { cwd: project.root, env, stdio: 'ignore' })
    git('init')
    git('add', '--force', 'tracked.log')
    const door = openGit({ cwd: project.root, env })
    const where = { root: project.root, isIgnored: (paths: readonly string[]) => ignoredPaths(door, paths) }
    const names = [
      'a.log',
      'keep.log',
      'tracked.log',
      'dist/out.js',
      'dist',
      'innocent.txt',
      '.git/config',
      'src/',
      'missing.ts',
    ]
    const [materials = []] = await collectMaterials(where, [names], { except: [], room: 100_000 })
    expect(brief(materials)).toEqual([
      'a.log: ignored',
      'keep.log',
      'tracked.log',
      'dist/out.js: ignored',
      'dist: ignored',
      'innocent.txt: ignored',
      '.git/config: ignored',
      'src/ -> src/c.ts',
      'src/c.ts (listed)',
      'missing.ts: missing',
    ])
  })
})

describe('very many globs', () => {
  it('are found in one look at their folder, each by its own files', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `src/f${i}-*.ts`)
    const project = makeProject({ 'src/f1-a.ts': 'a', 'src/f11-b.ts': 'b', 'src/g.ts': 'c', 'lib/x.ts': 'd' })
    let asked = 0
    const isIgnored = (): Promise<Set<string>> => {
      asked++
      return Promise.resolve(new Set<string>())
    }
    const [found = []] = await collectMaterials({ root: project.root, isIgnored }, [names], {
      except: [],
      room: 100_000,
    })
    expect(brief(found).filter((line) => !line.endsWith('-> '))).toEqual([
      'src/f1-*.ts -> src/f1-a.ts',
      'src/f1-a.ts (listed)',
      'src/f11-*.ts -> src/f11-b.ts',
      'src/f11-b.ts (listed)',
    ])
    // The folder that all are in, and what stands in it.
    expect(asked).toBe(2)
  })
})
