/**
 * Task files are scanned as bytes, each as one unit of a string: all of their structure is ASCII, and most of the
 * rest is never shown. What is shown is decoded here.
 */
export function decoded(bytes: string): string {
  return BEYOND_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes
}

const BEYOND_ASCII = /[^\0-\x7f]/

/** Decodes into a new string. */
export function ownText(bytes: string): string {
  return BEYOND_ASCII.test(bytes) ? decoded(bytes) : ownCopy(bytes)
}

/** A new string of the same units: a part of another string would keep all of that in memory. */
export function ownCopy(bytes: string): string {
  // The engine copies both into one new string; that takes half of the time of the way through a buffer.
  return ` ${bytes}`.slice(1)
}
