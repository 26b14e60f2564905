import { existsSync } from 'node:fs'

// Beside a bundle, above a bundle's chunk, and from this file when the sources run directly.
const PLACES = ['./', '../', '../../dist/'] as const

/** The URL of a file that the build creates, or, as `../docs/…`, of one that lies beside what it creates. */
export function builtFile(name: string): URL {
  const urls = PLACES.map((place) => new URL(place + name, import.meta.url))
  const found = urls.find((url) => existsSync(url))
  if (!found) throw new Error(`the build did not make ${name}`)
  return found
}
