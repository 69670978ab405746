/** Work that is done in steps, so that others may come between: generators that yield nothing and return a result. */

/** The result, of all steps in one go. */
export function drained<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
