import type { Dialogue } from './io.ts'

/** The streams to ask a person through; null if nobody is there to answer. */
export function openDialogue(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Dialogue | null {
  if (!input.isTTY || !output.isTTY) return null
  // A terminal that was closed during a question accepts no output. Then the signal ends the question, not an error
  // of readline or of the output.
  output.on('error', () => undefined)
  const setRawMode = input.setRawMode.bind(input)
  input.setRawMode = (mode) => {
    try {
      return setRawMode(mode)
    } catch {
      return input
    }
  }
  return { input, output }
}
