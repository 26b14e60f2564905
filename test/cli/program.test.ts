import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { reportError } from '../../src/cli/report-error.ts'
import manifest from '../../package.json' with { type: 'json' }
import { projectFolder, taskText } from './project-folder.ts'
import { ralph } from './ralph.ts'

const program = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))

describe('the program', () => {
  it('says its version', () => {
    expect(execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })).toBe(
      `${manifest.version}\n`,
    )
  })

  it('shows what it can where nothing is asked', async () => {
    const { code, stdout } = await ralph([], { cwd: '/' })
    expect([code, stdout]).toEqual([0, (await ralph(['--help'], { cwd: '/' })).stdout])
  })

  it('ends with the exit code of its answer', () => {
    const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Waits', { Depends: 'T-002' }) })
    expect(spawnSync(process.execPath, [program, 'next'], { cwd }).status).toBe(1)
    expect(spawnSync(process.execPath, [program, 'nxt'], { cwd }).status).toBe(2)
  })

  it.skipIf(process.platform === 'win32')('is quiet where its reader has seen enough', () => {
    const files = Array.from({ length: 300 }, (_, index) => {
      const id = `T-${index + 1}`
      return [`docs/tasks/${id}.md`, taskText(id, 'x'.repeat(500))]
    })
    const cwd = projectFolder(Object.fromEntries(files))
    const pipe = `"${process.execPath}" "${program}" list | head -n 1`
    const { stdout, stderr } = spawnSync('sh', ['-c', pipe], { cwd, encoding: 'utf8' })
    expect([stdout.split('\n').length, stderr]).toEqual([2, ''])
  })
})

describe('an error', () => {
  const report = async (
    error: unknown,
    env: Record<string, string> = {},
  ): Promise<{ code: number; text: string }> => {
    let text = ''
    const stderr = { columns: null, write: (written: string) => void (text += written) }
    const code = await reportError(error, { argv: [], env, stderr })
    return { code, text }
  }

  it('that a person can mend says what is wrong and what to do', async () => {
    const { code, text } = await report(new UserError('it broke', 'Mend it.'))
    expect([code, text]).toEqual([2, 'error: it broke\nMend it.\n'])
  })

  it('that is a bug says so, and shows its place only where asked', async () => {
    const quiet = await report(new TypeError('x is not a function'))
    expect(quiet.code).toBe(2)
    expect(quiet.text).toMatch(/This is a bug in ralph/)
    expect(quiet.text).not.toMatch(/\.ts:\d/)
    expect((await report(new TypeError('x'), { RALPH_DEBUG: '1' })).text).toMatch(/program\.test\.ts:\d+/)
  })

  it('cannot drive the terminal with what it quotes', async () => {
    expect((await report(new UserError('no file \u001b[2J'))).text).toBe('error: no file ␛[2J\n')
  })
})
