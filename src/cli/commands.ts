import type { CommandSpec } from './command.ts'

/** The table of commands, in the order in which help shows them. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'completion',
    args: '<shell>',
    summary: 'prints shell completion for bash, zsh or fish, task ids included',
    options: [],
    examples: [
      'ralph completion bash >> ~/.bashrc',
      'ralph completion fish > ~/.config/fish/completions/ralph.fish',
    ],
    load: () => import('./commands/completion.ts'),
  },
]
