import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ralph } from '../cli/ralph.ts'
import { env, git, makeFolder, makeRepository, put } from '../repository.ts'
import type { Answers, Phase } from '../../src/authoring/plan/answers.ts'

export type PlanScene = ReturnType<typeof planScene>

const AGENT = `#!/bin/sh
here=$(dirname "$0")
phase=$RALPH_PLAN_PHASE
time=$(( $(cat "$here/$phase.times" 2>/dev/null || echo 0) + 1 ))
echo $time > "$here/$phase.times"
cat > "$here/$phase.prompt.$time"
if [ -f "$here/$phase.sh" ]; then . "$here/$phase.sh"; fi
if [ -f "$here/$phase.$time" ]; then cat "$here/$phase.$time"; else cat "$here/$phase.says"; fi
`

/** What an agent prints that answers so. */
export function fenced(answer: unknown): string {
  return `I have thought about it.\n\n\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\`\n`
}

/** A repository with these files in its first commit, and an agent outside of it that answers as it is told. */
export function planScene(files: Readonly<Record<string, string>> = {}, config: object = {}) {
  const agent = makeFolder()
  put(agent, { 'agent.sh': AGENT })
  const root = makeRepository({
    'README.md': '# shop\n',
    'ralph.config.json': JSON.stringify({
      agent: 'command',
      command: `sh ${join(agent, 'agent.sh')}`,
      gates: [],
      commit: { seal: false },
      retries: 0,
      ...config,
    }),
    ...files,
  })
  const says = (phase: Phase, text: string, time?: number): void =>
    writeFileSync(join(agent, `${phase}.${time ?? 'says'}`), text)
  const answers = <P extends Phase>(phase: P, answer: Answers[P]): void => says(phase, fenced(answer))
  answers('research', RESEARCH)
  answers('decisions', DECISIONS)
  answers('requirements', REQUIREMENTS)
  answers('tasks', TASKS)
  return {
    root,
    /** What the agent prints in a phase; `time` for just one of the times it is asked. */
    says,
    answers,
    /** A shell script that it runs before it answers. */
    does: (phase: Phase, script: string) => writeFileSync(join(agent, `${phase}.sh`), script),
    /** The prompts that it got in a phase. */
    prompts: (phase: Phase): readonly string[] => {
      const found: string[] = []
      for (let time = 1; existsSync(join(agent, `${phase}.prompt.${time}`)); time++)
        found.push(readFileSync(join(agent, `${phase}.prompt.${time}`), 'utf8'))
      return found
    },
    plan: (...argv: readonly string[]) => ralph(['plan', ...argv], { cwd: root, env }),
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
    has: (path: string) => existsSync(join(root, path)),
  }
}

export const RESEARCH: Answers['research'] = {
  findings: [{ topic: 'Storage', finding: 'There is none.', source: 'README.md:1' }],
  unknown: ['How many users there are'],
  small: false,
}

export const DECISIONS: Answers['decisions'] = {
  decisions: [
    {
      key: 'database',
      question: 'Which database?',
      context: 'Users are kept somewhere.',
      options: [
        { title: 'SQLite', consequences: 'One file.' },
        { title: 'Postgres', consequences: 'A server.' },
      ],
      recommended: 0,
      why: 'it needs no server',
    },
  ],
}

export const REQUIREMENTS: Answers['requirements'] = {
  title: 'Users',
  summary: 'Users are kept, and log in.',
  sections: [
    { key: 'users', title: 'Users', text: 'A user has a name.', criteria: ['POST /users answers 201'] },
    { key: 'login', title: 'Login', text: 'A user logs in.', criteria: ['A wrong password answers 401'] },
  ],
}

/** The tasks of the answer, in an order other than that in which they can be done. */
export const TASKS: Answers['tasks'] = {
  tasks: [
    {
      key: 'log-in',
      title: 'Log in',
      milestone: '2 — Login',
      description: 'Check the password.',
      criteria: ['A wrong password answers 401'],
      touches: ['src/users.js'],
      produces: ['src/login.js'],
      depends: ['keep-users'],
      requirements: ['login'],
    },
    {
      key: 'keep-users',
      title: 'Keep users',
      milestone: '1 — Users',
      description: 'Keep users in a file.',
      criteria: ['POST /users answers 201'],
      touches: ['README.md'],
      produces: ['src/users.js'],
      depends: [],
      requirements: ['users'],
      complexity: 'Light',
      hints: ['The standard library is enough'],
    },
  ],
}

/** The subjects of the commits, newest first. */
export function subjects(root: string): readonly string[] {
  return git(root, 'log', '--format=%s').split('\n')
}
