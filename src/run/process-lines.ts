import type { LivingProcess } from '../process/tree.ts'

const LONGEST = 100

/** Processes as the tree that they are, one line each: `12 npm test`, and below it `└─ 13 node test.mjs`. */
export function processLines(processes: readonly LivingProcess[]): readonly string[] {
  const pids = new Set(processes.map(({ pid }) => pid))
  const below = (parent: number): readonly LivingProcess[] =>
    processes.filter((process) => process.parent === parent && process.pid !== parent)
  const draw = (process: LivingProcess, indent: string): readonly string[] => {
    const children = below(process.pid)
    return children.flatMap((child, index) => {
      const isLast = index === children.length - 1
      const deeper = indent + (isLast ? '   ' : '│  ')
      return [`${indent}${isLast ? '└─' : '├─'} ${nameOf(child)}`, ...draw(child, deeper)]
    })
  }
  const roots = processes.filter(({ parent }) => !pids.has(parent))
  return roots.flatMap((root) => [nameOf(root), ...draw(root, '')])
}

function nameOf({ pid, command }: LivingProcess): string {
  const text = `${pid} ${command.replace(/\s+/g, ' ')}`.trim()
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}
