import type { Dialogue } from './io.ts'

/** The streams to ask a person through; null where nobody is there to answer. */
export function openDialogue(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Dialogue | null {
  if (!input.isTTY || !output.isTTY) return null
  // A terminal that was closed under a question takes nothing any more. It is the signal that ends the question then,
  // and neither what readline would throw nor what cannot be drawn.
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
