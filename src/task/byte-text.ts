/**
 * Task files are scanned as bytes, each as one unit of a string: all of their structure is ASCII, and most of the
 * rest is never shown. What is shown is decoded here.
 */
export function decoded(bytes: string): string {
  return /^[\0-\x7f]*$/.test(bytes) ? bytes : ownText(bytes)
}

/** Decodes into a new string: a part of another string would keep all of it in memory. */
export function ownText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
