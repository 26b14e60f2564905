/**
 * Task files are looked through as their bytes, each as one unit of a string: all that counts for their structure is
 * ASCII, and most of the rest is never shown. What is, is decoded here.
 */
export function decoded(bytes: string): string {
  return /^[\0-\x7f]*$/.test(bytes) ? bytes : ownText(bytes)
}

/** The same as a string of its own: a part of another would keep the whole of that in memory. */
export function ownText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
