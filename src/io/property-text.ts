/** The value of a property without space around it; an empty one is none. */
export function textOf(properties: Readonly<Record<string, string>>, name: string): string | undefined {
  // Properties may come as JSON, where a name such as `constructor` must not find anything.
  const text = Object.hasOwn(properties, name) ? properties[name].trim() : ''
  return text === '' ? undefined : text
}
