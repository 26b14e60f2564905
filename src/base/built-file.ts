import { existsSync } from 'node:fs'

// Beside a bundle, above a bundle's chunk, and from where this file stands while the sources run as they are.
const PLACES = ['./', '../', '../../dist/'] as const

/** Where a file that the build makes lies. */
export function builtFile(name: string): URL {
  const urls = PLACES.map((place) => new URL(place + name, import.meta.url))
  const found = urls.find((url) => existsSync(url))
  if (!found) throw new Error(`the build did not make ${name}`)
  return found
}
