/** Microseconds since 1970 of `yyyy-mm-ddThh:mm:ss.ffffff` in UTC, by the clock of JavaScript. */
export function microsOf(text: string): bigint {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})$/.exec(text)
  if (match === null) throw new Error(`Cannot read instant ${text}`)
  return BigInt(Date.parse(`${match[1]}Z`)) * 1000n + BigInt(match[2])
}

/** Days since 1970 of `yyyy-mm-dd`. */
export function daysOf(text: string): number {
  return Date.parse(`${text}T00:00:00Z`) / 86_400_000
}
