import type { Happening } from '../engine/events/event.ts'
import { accent, bad, dim, good, line, paragraph, strong, type Block } from './block.ts'
import { workerText } from './run-text.ts'

/** The lines of a worker for an event; without details, which the run shows. */
export function workerBlocks(event: Happening): readonly Block[] {
  switch (event.type) {
    case 'worker-joined':
      return [line(good('+'), ` worker ${event.worker}: ${workerText(event)}`)]
    case 'warning':
      return [paragraph([strong('warning'), ' '], event.message)]
    case 'preparing':
      return [line(dim(`  prepares: ${event.command}`))]
    case 'attempt-started':
      return [line(accent(event.id), `  attempt ${event.attempt}, ${event.agent}`)]
    case 'candidate-ready':
      return [line(good('✓'), ' ', accent(event.id), '  passed: the run lands it')]
    case 'attempt-finished':
      return event.outcome === 'done'
        ? []
        : [paragraph([bad('✗'), ' ', accent(event.id), '  '], `${event.outcome}: ${event.reason}`)]
    default:
      return []
  }
}
