const MAX_CHARS = 300

/** What a store or server says goes into a message, but on one line and no more of it than fits. */
export function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}...` : line
}
