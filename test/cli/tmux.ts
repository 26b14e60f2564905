import { execFileSync, spawnSync } from 'node:child_process'
import { onTestFinished, vi } from 'vitest'

/** Whether there is a tmux to test in. */
export const hasTmux = process.platform !== 'win32' && spawnSync('tmux', ['-V']).status === 0

/** A terminal with a shell in it, as a person has one. */
export interface Tmux {
  /** Types text, as it is; a key by its name where it is one of tmux's: `Enter`, `C-c`. */
  readonly press: (...keys: readonly string[]) => void
  readonly type: (line: string) => void
  readonly resize: (columns: number, rows: number) => void
  /** What stands in it, with what has scrolled away. */
  readonly text: () => string
  /** Waits until that stands in it. */
  readonly shows: (text: string | RegExp) => Promise<string>
  readonly title: () => string
}

let made = 0

/** Opens a terminal of that size in a folder; it is gone when the test is over. */
export function openTmux(
  cwd: string,
  env: Readonly<Record<string, string>>,
  { columns = 90, rows = 24 } = {},
): Tmux {
  const socket = `ralph-test-${process.pid}-${made++}`
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      cwd,
      env: { ...env, TERM: 'xterm-256color' },
      encoding: 'utf8',
    })
  const size = ['-x', String(columns), '-y', String(rows)]
  tmux('new-session', '-d', '-s', 'a', ...size, 'PS1="ready> " exec sh')
  onTestFinished(() => void spawnSync('tmux', ['-L', socket, 'kill-server']))
  const text = (): string => tmux('capture-pane', '-p', '-J', '-t', 'a', '-S', '-').trimEnd()
  return {
    press: (...keys) => void tmux('send-keys', '-t', 'a', ...keys),
    type: (line) => void tmux('send-keys', '-t', 'a', line, 'Enter'),
    resize: (to, height) => void tmux('resize-window', '-t', 'a', '-x', String(to), '-y', String(height)),
    text,
    async shows(wanted) {
      const isThere = (): boolean =>
        typeof wanted === 'string' ? text().includes(wanted) : wanted.test(text())
      try {
        await vi.waitUntil(isThere, { timeout: 30_000, interval: 50 })
      } catch {
        throw new Error(`the terminal does not show ${String(wanted)}, but\n${text()}`)
      }
      return text()
    },
    title: () => tmux('display-message', '-p', '-t', 'a', '#{pane_title}').trim(),
  }
}
