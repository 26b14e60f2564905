import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { env as bare, makeFolder, PROGRAM } from '../repository.ts'

/** Whether there is a tmux to hold real terminals. */
export const hasTmux = process.platform !== 'win32' && spawnSync('tmux', ['-V']).status === 0

let servers = 0

/** A real terminal with a shell in it, in a tmux of its own; it is gone when the test is over. */
export function openTmux(
  cwd: string,
  { columns = 120, rows = 24 } = {},
  more: Readonly<Record<string, string>> = {},
) {
  const socket = `ralph-test-${process.pid}-${servers++}`
  const env = {
    ...bare,
    HOME: cwd,
    // Workspaces of ralph's own are to be outside of the project.
    XDG_CACHE_HOME: makeFolder(),
    // A program that has lost its terminal would write there while it is removed.
    NODE_DISABLE_COMPILE_CACHE: '1',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    PS1: '$ ',
    PAGER: 'cat > .git/paged; true',
    EDITOR: 'cp -t .git',
    ...more,
  }
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { cwd, env, encoding: 'utf8' })
  const ask = (format: string): string => tmux('display-message', '-t', 't', '-p', format).trim()
  tmux('new-session', '-d', '-s', 't', '-x', `${columns}`, '-y', `${rows}`, 'sh')
  onTestFinished(() => void spawnSync('tmux', ['-L', socket, 'kill-server'], { cwd }))
  const screen = (): string => tmux('capture-pane', '-t', 't', '-p')
  const history = (): string => tmux('capture-pane', '-t', 't', '-p', '-J', '-S', '-')
  return {
    screen,
    /** With all that has scrolled away. */
    history,
    isAlternate: () => ask('#{alternate_on}') === '1',
    title: () => ask('#{pane_title}'),
    /** What a program may have left switched on: the other screen, no cursor, the mouse, other keys, no wrapping, a title. */
    modes: () =>
      ask(
        '#{alternate_on}#{cursor_flag} #{mouse_any_flag}#{mouse_sgr_flag} #{keypad_cursor_flag}#{keypad_flag} #{wrap_flag} #{pane_title}',
      ),
    /** What the terminal is set to: whether what is typed shows, and whether a line is edited in it. */
    isCooked: () =>
      / echo( |$)/m.test(
        ` ${spawnSync('stty', ['-F', ask('#{pane_tty}'), '-a'], { encoding: 'utf8' }).stdout}`,
      ),
    press: (...keys: readonly string[]) => void tmux('send-keys', '-t', 't', ...keys),
    type: (text: string) => void tmux('send-keys', '-t', 't', '-l', text),
    /** Runs ralph in the shell. */
    ralph: (...args: readonly string[]) => {
      const words = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`)
      tmux('send-keys', '-t', 't', '-l', `${words.join(' ')}; echo "ended with $?"; : > .git/ended`)
      tmux('send-keys', '-t', 't', 'Enter')
    },
    /** Whether that has ended, whatever stands on the screen by now. */
    hasEnded: () => existsSync(join(cwd, '.git/ended')),
    resize: (to: number, height: number) =>
      void tmux('resize-window', '-t', 't', '-x', `${to}`, '-y', `${height}`),
    /** Waits until the screen says that; gives all that has been shown. */
    shows: async (words: string | RegExp) => {
      await expect.poll(screen, { timeout: 30_000, interval: 50 }).toMatch(words)
      return history()
    },
  }
}
