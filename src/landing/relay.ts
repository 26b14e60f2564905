/** Does something that tells of its progress by calling back, as a generator of what it tells. */
export async function* relay<Told, Result>(
  work: (tell: (told: Told) => void) => Promise<Result>,
): AsyncGenerator<Told, Result> {
  const told: Told[] = []
  let wake = (): void => undefined
  const state = { over: false }
  const result = work((one) => {
    told.push(one)
    wake()
  }).finally(() => {
    state.over = true
    wake()
  })
  // What it fails with is thrown below, by the await, and must not count as unhandled until then.
  result.catch(() => undefined)
  while (!state.over) {
    await new Promise<void>((resolve) => {
      wake = resolve
      if (state.over || told.length > 0) resolve()
    })
    yield* told.splice(0)
  }
  return result
}
