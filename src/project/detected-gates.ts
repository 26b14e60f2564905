import type { Gate } from '../events/gate.ts'
import { detectGates } from '../gates/detect.ts'

/**
 * The gates that a project's own files speak of. Nobody has said of a linter that it must pass, and many a project lives
 * with what it finds: so it is shown, and stops nothing.
 */
export function detectedGates(root: string): readonly Gate[] {
  return detectGates(root).map((gate) => (/^lint\b/.test(gate.name) ? { ...gate, required: false } : gate))
}
