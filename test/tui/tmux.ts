import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** The built program. */
export const PROGRAM = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))

/** Whether there is a tmux to hold real terminals. */
export const hasTmux = process.platform !== 'win32' && spawnSync('tmux', ['-V']).status === 0

let servers = 0

/** A real terminal with a shell in it, in a tmux of its own. */
export function openTmux(
  cwd: string,
  size: { readonly columns: number; readonly rows: number },
  more: Readonly<Record<string, string>> = {},
) {
  const socket = `ralph-test-${process.pid}-${servers++}`
  const env = {
    PATH: process.env['PATH'],
    HOME: cwd,
    // Workspaces of ralph's own are to be outside of the project.
    XDG_CACHE_HOME: mkdtempSync(join(tmpdir(), 'ralph-cache-')),
    // A program that has lost its terminal would write there while it is removed.
    NODE_DISABLE_COMPILE_CACHE: '1',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    RALPH_SANDBOX: 'off',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ana',
    GIT_AUTHOR_EMAIL: 'ana@example.com',
    GIT_COMMITTER_NAME: 'Ana',
    GIT_COMMITTER_EMAIL: 'ana@example.com',
    PS1: '$ ',
    PAGER: 'cat > .git/paged; true',
    EDITOR: 'cp -t .git',
    ...more,
  }
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { cwd, env, encoding: 'utf8' })
  const [columns, rows] = [String(size.columns), String(size.rows)]
  tmux('new-session', '-d', '-s', 't', '-x', columns, '-y', rows, 'sh')
  const screen = (): string => tmux('capture-pane', '-t', 't', '-p')
  return {
    screen,
    /** With all that has scrolled away. */
    history: () => tmux('capture-pane', '-t', 't', '-p', '-S', '-'),
    isAlternate: () => tmux('display-message', '-t', 't', '-p', '#{alternate_on}').trim() === '1',
    /** What a program may have left switched on: the other screen, no cursor, the mouse, other keys, no wrapping, a title. */
    modes: () =>
      tmux(
        'display-message',
        '-t',
        't',
        '-p',
        '#{alternate_on}#{cursor_flag} #{mouse_any_flag}#{mouse_sgr_flag} #{keypad_cursor_flag}#{keypad_flag} #{wrap_flag} #{pane_title}',
      ).trim(),
    /** What the terminal is set to: whether what is typed shows, and whether a line is edited in it. */
    isCooked: () =>
      / echo( |$)/m.test(
        ` ${spawnSync('stty', ['-F', tmux('display-message', '-t', 't', '-p', '#{pane_tty}').trim(), '-a'], { encoding: 'utf8' }).stdout}`,
      ),
    press: (...keys: readonly string[]) => void tmux('send-keys', '-t', 't', ...keys),
    type: (text: string) => void tmux('send-keys', '-t', 't', '-l', text),
    /** Runs ralph in the shell. */
    ralph: (...args: readonly string[]) => {
      const words = [process.execPath, more['PROGRAM'] ?? PROGRAM, ...args].map((word) => `'${word}'`)
      tmux('send-keys', '-t', 't', '-l', `${words.join(' ')}; echo "ended with $?"; : > .git/ended`)
      tmux('send-keys', '-t', 't', 'Enter')
    },
    /** Whether that has ended, whatever stands on the screen by now. */
    hasEnded: () => existsSync(join(cwd, '.git/ended')),
    resize: (to: number, height: number) =>
      void tmux('resize-window', '-t', 't', '-x', `${to}`, '-y', `${height}`),
    /** Waits until the screen says that. */
    shows: async (words: string | RegExp) => {
      await expect.poll(screen, { timeout: 30_000, interval: 50 }).toMatch(words)
    },
    end: () => {
      spawnSync('tmux', ['-L', socket, 'kill-server'], { cwd })
      rmSync(env.XDG_CACHE_HOME, { recursive: true, force: true })
    },
  }
}
