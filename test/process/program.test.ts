import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { childEnvironment } from '../../src/process/mark.ts'
import { findOnPath, programsIn, shimTarget } from '../../src/process/program.ts'
import { runProgram } from '../../src/process/run.ts'
import { startProcess } from '../../src/process/start.ts'
import { folderWith } from './programs.ts'

const root = mkdtempSync(join(tmpdir(), 'ralph-program-'))
afterAll(() => rmSync(root, { recursive: true }))

describe.skipIf(process.platform === 'win32')('on PATH', () => {
  test('the first executable of that name is found', () => {
    const plain = folderWith('one', '', 0o644)
    const first = folderWith('one', '')
    const second = folderWith('one', '')
    const folder = mkdtempSync(join(root, 'dir-'))
    mkdirSync(join(folder, 'one'))
    const env = { PATH: ['', 'bin', join(root, 'none'), folder, plain, first, second].join(delimiter) }
    expect(findOnPath('one', env)).toBe(join(first, 'one'))
    expect(findOnPath('two', env)).toBeNull()
    expect(findOnPath('one', {})).toBeNull()
  })

  test('a folder that depends on where one is holds nothing that is started', async () => {
    const folder = folderWith('one', 'echo taken')
    const env = { PATH: ['.', relative(process.cwd(), folder)].join(delimiter) }
    expect(findOnPath('one', env)).toBeNull()
    await expect(runProgram({ program: 'one', args: [], cwd: folder, env })).rejects.toThrow(
      'one was not found',
    )
    const started = startProcess(
      { program: 'one', args: [] },
      { cwd: folder, env, onOutput: () => undefined },
    )
    expect(await started.finished).toMatchObject({ kind: 'not-started', missing: true })
  })
})

/** A Windows whose files are these, by their paths. */
function windows(files: Readonly<Record<string, string>>) {
  const paths = new Map(Object.entries(files).map(([path, text]) => [path.toLowerCase(), text]))
  return programsIn({
    platform: 'win32',
    isProgram: (path) => paths.has(path.toLowerCase()),
    read: (path) => paths.get(path.toLowerCase())!,
  })
}

const NPM = String.raw`@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\node_modules\agent\cli.js" %*
`.replaceAll('\n', '\r\n')
const NPM_EXE = '@ECHO off\r\n"%dp0%\\node_modules\\agent\\bin\\agent.exe"   %*\r\n'
const PNPM = String.raw`@SETLOCAL
@IF EXIST "%~dp0\node.exe" (
  "%~dp0\node.exe"  "%~dp0\..\agent\cli.js" %*
) ELSE (
  @SET PATHEXT=%PATHEXT:;.JS;=;%
  node  "%~dp0\..\agent\cli.js" %*
)
`

test.each([
  ['npm', NPM, String.raw`node_modules\agent\cli.js`],
  ['npm, for a program', NPM_EXE, String.raw`node_modules\agent\bin\agent.exe`],
  ['pnpm', PNPM, String.raw`..\agent\cli.js`],
  ['another program than Node', NPM.replace('_prog=node"', '_prog=python"'), null],
  ['nobody known', '@echo off\r\nagent.exe %*\r\n', null],
  ['somebody who starts two', PNPM + '"%~dp0\\other.exe" %*\r\n', null],
])('the shim of %s starts what stands in it', (_, text, target) => {
  expect(shimTarget(text)).toBe(target)
})

describe('on Windows', () => {
  const env = { Path: String.raw`C:\npm;.;C:\node;C:\Program Files\Git\cmd`, PATHEXT: '.COM;.EXE;.BAT;.CMD' }
  const programs = windows({
    [String.raw`C:\node\node.exe`]: '',
    [String.raw`C:\npm\agent.cmd`]: NPM,
    [String.raw`C:\npm\tool.cmd`]: NPM_EXE,
    [String.raw`C:\npm\odd.bat`]: 'echo hello',
    [String.raw`C:\Program Files\Git\cmd\git.exe`]: '',
    [String.raw`C:\Program Files\Git\bin\sh.exe`]: '',
  })
  const resolved = (program: string) => programs.resolveProgram(program, ['-p', 'a "b"'], env)

  test.each([
    ['git', String.raw`C:\Program Files\Git\cmd\git.EXE`, []],
    ['git.exe', String.raw`C:\Program Files\Git\cmd\git.exe`, []],
    ['agent', String.raw`C:\node\node.EXE`, [String.raw`C:\npm\node_modules\agent\cli.js`]],
    ['tool', String.raw`C:\npm\node_modules\agent\bin\agent.exe`, []],
    ['sh', String.raw`C:\Program Files\Git\bin\sh.exe`, []],
    [String.raw`D:\own\agent.exe`, String.raw`D:\own\agent.exe`, []],
  ])('%s is %s', (name, program, before) => {
    expect(resolved(name)).toEqual({ program, args: [...before, '-p', 'a "b"'] })
  })

  test('a batch file that is no shim is not started, and nothing else is in its place', () => {
    expect(resolved('odd')).toEqual({
      reason: String.raw`C:\npm\odd.BAT is a batch file of a kind that only cmd.exe starts`,
      missing: false,
    })
    expect(resolved('none')).toEqual({ reason: 'none was not found', missing: true })
  })

  test('the Node beside a shim goes before that on PATH', () => {
    const beside = windows({ [String.raw`C:\npm\agent.cmd`]: NPM, [String.raw`C:\npm\node.exe`]: '' })
    expect(beside.resolveProgram('agent', [], env)).toMatchObject({
      program: String.raw`C:\npm\node.exe`,
    })
  })

  test.each([
    [String.raw`C:\Git\mingw64\bin\git.exe`, String.raw`C:\Git\usr\bin\sh.exe`],
    [String.raw`C:\Git\bin\git.exe`, String.raw`C:\Git\bin\sh.exe`],
  ])('the shell beside %s is %s', (git, shell) => {
    const path = { Path: git.slice(0, git.lastIndexOf('\\')) }
    expect(windows({ [git]: '', [shell]: '' }).findShell(path)).toBe(shell)
  })

  test('where there is no shell there is a sentence', () => {
    expect(windows({}).findShell(env)).toBeNull()
    expect(windows({}).resolveProgram('sh', [], env)).toMatchObject({ missing: true })
  })

  test('what is started looks for nothing in the current folder', () => {
    expect(childEnvironment({ A: '1', B: undefined }, 'win32')).toEqual({
      A: '1',
      NoDefaultCurrentDirectoryInExePath: '1',
    })
    expect(childEnvironment({ A: '1', B: undefined }, 'linux')).toEqual({ A: '1' })
  })
})
