/** Parsed JSON that nobody has checked yet: telling its objects apart, and naming its values in messages. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

const MAX_CHARS_SHOWN = 80

/** The value for an error message, however hostile: one line, at most about 80 characters. */
export function describeJson(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' && value.length > MAX_CHARS_SHOWN
    ? `${JSON.stringify(value.slice(0, MAX_CHARS_SHOWN))}...`
    : JSON.stringify(value)
}
