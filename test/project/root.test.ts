import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { findRoot } from '../../src/config/root.ts'
import { makeFolder, put } from '../repository.ts'

let top: string

beforeEach(() => {
  top = makeFolder()
})

/** Makes folders (a name that ends in a slash) and empty files. */
function make(...paths: readonly string[]): void {
  for (const path of paths) {
    if (path.endsWith('/')) mkdirSync(join(top, path), { recursive: true })
    else put(top, { [path]: '' })
  }
}

/** What others have left in the folders above is no part of a test. */
function existsBelowTop(path: string): boolean {
  return path.startsWith(top) && existsSync(path)
}

describe('the root', () => {
  it.skipIf(process.platform === 'win32')('is the folder itself, where a link leads to it', () => {
    make('shop/.git/', 'shop/src/')
    symlinkSync(join(top, 'shop'), join(top, 'link'))
    expect(findRoot(join(top, 'link/src'))).toBe(join(top, 'shop'))
  })

  it.each([
    'package.json',
    'Cargo.toml',
    'go.mod',
    'pyproject.toml',
    'mix.exs',
    '.git/',
    '.git',
    'ralph.config.json',
  ])('is the folder that has %s', (marker) => {
    make(`shop/${marker}`, 'shop/src/deep/')
    expect(findRoot(join(top, 'shop/src/deep'))).toBe(join(top, 'shop'))
    expect(findRoot(join(top, 'shop'))).toBe(join(top, 'shop'))
  })

  it('is the closest one', () => {
    make('.git/', 'docs/', 'shop/package.json', 'shop/src/')
    expect(findRoot(join(top, 'shop/src'))).toBe(join(top, 'shop'))
  })

  it('is found from a folder that is no longer there', () => {
    make('package.json')
    expect(findRoot(join(top, 'gone/for/good'))).toBe(top)
  })

  it('is not guessed', () => {
    make('src/')
    const look = () => findRoot(join(top, 'src'), undefined, existsBelowTop)
    expect(look).toThrow(UserError)
    expect(look).toThrow('No project root found. Please run ralph from within a project directory.')
  })
})

describe('in a monorepo the root', () => {
  it('is the folder further up that has the tasks', () => {
    make('.git/', 'docs/tasks/', 'packages/api/package.json', 'packages/api/src/')
    expect(findRoot(join(top, 'packages/api/src'))).toBe(top)
  })

  it('is the package, where that has tasks of its own', () => {
    make('.git/', 'docs/tasks/', 'packages/api/package.json', 'packages/api/docs/tasks/')
    expect(findRoot(join(top, 'packages/api'))).toBe(join(top, 'packages/api'))
  })

  it('is the nearest of the folders with tasks', () => {
    make('.git/', 'docs/tasks/', 'apps/docs/tasks/', 'apps/web/package.json')
    expect(findRoot(join(top, 'apps/web'))).toBe(join(top, 'apps'))
  })

  it('is the package, where no folder has tasks', () => {
    make('.git/', 'packages/api/package.json')
    expect(findRoot(join(top, 'packages/api'))).toBe(join(top, 'packages/api'))
  })

  it('is never in another repository', () => {
    make('.git/', 'docs/tasks/', 'vendor/lib/.git', 'vendor/lib/src/')
    expect(findRoot(join(top, 'vendor/lib/src'))).toBe(join(top, 'vendor/lib'))
  })

  it('is never looked for above where there is no repository', () => {
    make('docs/tasks/', 'api/package.json')
    expect(findRoot(join(top, 'api'), undefined, existsBelowTop)).toBe(join(top, 'api'))
  })

  it('goes by the task folder that is asked for', () => {
    make('.git/', 'work/items/', 'api/package.json', 'api/docs/tasks/')
    expect(findRoot(join(top, 'api'), 'work/items')).toBe(top)
  })

  it('is the folder further up that is configured, whatever its task folder is called', () => {
    make('.git/', 'ralph.config.yaml', 'api/package.json')
    expect(findRoot(join(top, 'api'))).toBe(top)
  })

  it('is the folder further up whose package.json configures ralph, and no other', () => {
    make('.git/', 'apps/package.json', 'apps/web/package.json')
    put(top, {
      'package.json': '{ "ralph": { "tasks": "work" } }',
      'apps/package.json': '{ "keywords": ["ralph"] }',
    })
    expect(findRoot(join(top, 'apps/web'))).toBe(top)
  })
})
