import { homedir } from 'node:os'
import path from 'node:path'
import type { AgentRequest } from '../port.ts'

/** A place in the home, or where a variable says instead. */
export function homeOf(env: AgentRequest['env'], place: string, told?: string): string {
  return told ?? path.join(env['HOME'] ?? homedir(), place)
}
