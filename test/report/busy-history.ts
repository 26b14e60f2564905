import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

/** What somebody might write into a task to have a page run it, or ask the network for it. */
export const HOSTILE = `<script>fetch('http://evil.example/x')</script><img src=http://evil.example/i.png onerror=alert(1)>"'--></style></title> ![pic](http://evil.example/p.png) [link](javascript:alert(1))`

interface Busy {
  readonly tasks: number
  /** Stands in titles, reasons, milestones and notes. */
  readonly text?: string
}

/** Makes a repository in which tasks were completed on many nights, some after attempts that failed, with all numbers. */
export function makeBusyHistory(root: string, { tasks, text = '' }: Busy): void {
  mkdirSync(root, { recursive: true })
  const stream: string[] = []
  const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`
  const blob = (path: string, content: string): string => `M 100644 inline ${path}\n${data(content)}`
  const commit = (ref: string, time: number, message: string): string => {
    const who = `Ada <ada@example.com> ${time} +0000`
    return `commit ${ref}\nauthor ${who}\ncommitter ${who}\n${data(message)}`
  }
  let time = 1_760_000_000
  const files = Array.from({ length: tasks + 4 }, (_, i) =>
    blob(fileOf(i + 1), taskText(i + 1, 'TODO', text)),
  )
  stream.push(commit('refs/heads/main', time, 'Begin'), blob('package.json', '{}\n'), ...files)
  for (let task = 1; task <= tasks; task++) {
    const failures = task % 7 === 0 ? 2 : task % 3 === 0 ? 1 : 0
    // A night has some forty tasks; then people sleep, or do not.
    if (task % 40 === 1) time += 14 * 3600
    for (let number = 1; number <= failures; number++) {
      time += 300 + (task % 5) * 60
      const ref = `refs/ralph/attempts/${idOf(task)}/${number}`
      stream.push(commit(ref, time, attemptMessage(task, number, text)), 'from refs/heads/main\n')
      time += task % 2 ? 20 : 400
    }
    time += 240 + (task % 9) * 45
    stream.push(commit('refs/heads/main', time, doneMessage(task, failures, text)))
    stream.push(
      blob(fileOf(task), taskText(task, 'DONE', text)),
      blob(`src/part-${task}.ts`, `export const part = ${task}\n`),
    )
  }
  const git = (args: readonly string[], input?: string): void => {
    execFileSync('git', args, { cwd: root, input, stdio: ['pipe', 'ignore', 'inherit'] })
  }
  git(['init', '--quiet', '--initial-branch=main'])
  git(['fast-import', '--quiet', '--force'], stream.join(''))
  git(['reset', '--quiet', '--hard'])
}

const idOf = (task: number): string => `T-${String(task).padStart(4, '0')}`
const fileOf = (task: number): string => `docs/tasks/${idOf(task)}.md`
const milestoneOf = (task: number, text: string): string =>
  `${Math.ceil(task / 60)} — Group ${Math.ceil(task / 60)} ${text}`.trim()

function taskText(task: number, status: string, text: string): string {
  const isLast = status === 'TODO' && task % 4 === 0
  const fields = [
    `- **Status**: ${isLast ? 'BLOCKED' : status}`,
    `- **Milestone**: ${milestoneOf(task, text)}`,
    `- **Depends**: ${task > 5 ? idOf(task - (task % 4) - 1) : 'none'}`,
  ]
  const blocked = isLast ? `\n## Blocked\n\nneeds a key that nobody has ${text}\n` : ''
  return `# ${idOf(task)}: Keep part ${task} within limits ${text}\n\n${fields.join('\n')}\n\n## Description\nDo it.\n${blocked}`
}

const AGENTS = ['claude 2.1.326', 'codex 0.42', 'gemini 0.9']

function numbers(task: number, seconds: number): string {
  const cost = task % 11 === 0 ? '' : `\nCost: $0.${String(10 + (task % 80)).padStart(2, '0')}`
  return `Turns: ${10 + (task % 30)}\nDuration: ${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s\nTokens: ${100 + (task % 300)}k in (80k cached), ${2 + (task % 9)}k out${cost}`
}

function attemptMessage(task: number, number: number, text: string): string {
  const [outcome, reason] =
    task % 2
      ? ['gate-failed', `test failed: refuses an empty password ${text}`]
      : ['timeout', '15 min were up']
  return `${idOf(task)}: attempt ${number}: ${outcome}\n\n${reason}\n\nTask: ${idOf(task)}\nAttempt: ${number}\nOutcome: ${outcome}\nReason: ${reason}\nFailure: x\nCounted: ${number}/4\nAgent: ${AGENTS[task % 3]}\nTier: Standard\n${numbers(task, 200)}\n`
}

function doneMessage(task: number, failures: number, text: string): string {
  const notes = [
    `Part ${task} keeps its limits; see \`src/part-${task}.ts\`. ${text}`,
    '',
    '- checked on *blur* and on **submit**',
    `- five failures lock it ${text}`,
    '',
    '```ts',
    `export const part = ${task} // ${text}`,
    '```',
  ]
  const tier = ['Light', 'Standard', 'Heavy'][task % 3]
  return `${idOf(task)}: Keep part ${task} within limits ${text}\n\n${notes.join('\n')}\n\nTask: ${idOf(task)}\nAgent: ${AGENTS[task % 3]}\nModel: large\nTier: ${tier}\nAttempts: ${failures + 1}\n${numbers(task, 230 + failures * 200)}\nGates: typecheck, test\n`
}
