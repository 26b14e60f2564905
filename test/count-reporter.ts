import type { Reporter, TestModule } from 'vitest/node'

/** Closes a run with one line that programs read: `N passed, N failed, N skipped`. */
export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    )
    const count = (state: string): number => states.filter((other) => other === state).length
    // A file that could not even be loaded has no tests, and must not look like a success.
    const broken = modules.filter((module) => module.errors().length > 0).length
    process.stdout.write(
      `\n${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped\n`,
    )
  }
}
