/** Does one thing after the other, whatever becomes of each. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** Things that are done by one such function are never done at once. */
export function oneAtATime(): InTurn {
  let turn: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }
}
