// Loaded before a program whose clock is to be off: by so many milliseconds as RALPH_TEST_CLOCK says.
const off = Number(process.env.RALPH_TEST_CLOCK)
const Real = Date
globalThis.Date = class extends Real {
  constructor(...args) {
    super(...(args.length === 0 ? [Real.now() + off] : args))
  }
  static now() {
    return Real.now() + off
  }
}
