import { setFlagsFromString } from 'node:v8'

/**
 * Makes the JavaScript engine collect garbage often instead of growing: a run reads gigabytes of agent output, and keeps almost
 * nothing of it. This takes no more time, and a third less memory.
 */
export function takeLittleMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}
