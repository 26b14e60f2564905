import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { createOutlet } from '../../src/cli/io.ts'
import { projectFolder } from '../repository.ts'

function outletTo(path: string, flags: 'r' | 'w') {
  const fd = openSync(path, flags)
  onTestFinished(() => closeSync(fd))
  const unexpected = (): never => {
    throw new Error('a file needs no stream')
  }
  const losses: (UserError | null)[] = []
  const onLost = (error: UserError | null): void => void losses.push(error)
  return { outlet: createOutlet({ fd, open: unexpected, onLost }), losses }
}

it('writes to a file at once, and takes it for no terminal', () => {
  const path = join(projectFolder({}), 'out.txt')
  const { outlet } = outletTo(path, 'w')
  outlet.write('one\n')
  outlet.write('two\n')
  expect(outlet.columns).toBe(null)
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
  expect(outlet.isWritten).toBe(true)
})

it('says once what a person can look at where nothing can be written, as on a full disk', () => {
  const { outlet, losses } = outletTo(join(projectFolder({}), 'package.json'), 'r')
  outlet.write('one\n')
  outlet.write('two\n')
  expect(losses).toEqual([expect.any(UserError)])
})
