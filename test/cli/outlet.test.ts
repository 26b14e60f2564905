import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { createOutlet } from '../../src/cli/outlet.ts'
import { projectFolder } from './project-folder.ts'

function outletTo(path: string, flags: 'r' | 'w') {
  const fd = openSync(path, flags)
  onTestFinished(() => closeSync(fd))
  const unexpected = (): never => {
    throw new Error('a file needs no stream, and is never closed')
  }
  return createOutlet({ fd, open: unexpected, onClosed: unexpected })
}

it('writes to a file at once, and takes it for no terminal', () => {
  const path = join(projectFolder({}), 'out.txt')
  const outlet = outletTo(path, 'w')
  outlet.write('one\n')
  outlet.write('two\n')
  expect(outlet.columns).toBe(null)
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
})

it('says what a person can look at where nothing can be written, as on a full disk', () => {
  const outlet = outletTo(join(projectFolder({}), 'package.json'), 'r')
  expect(() => outlet.write('one\n')).toThrow(UserError)
})
