/** The one of some file names, told without `.md`, that a text means: as it stands, else in any case. */
export function nameAmong(names: Iterable<string>, written: string): string | undefined {
  const bare = written.replace(/\.md$/i, '')
  let alike: string | undefined
  for (const name of names) {
    if (name === bare) return name
    if (name.toLowerCase() === bare.toLowerCase()) alike ??= name
  }
  return alike
}
