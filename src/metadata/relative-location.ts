/**
 * Relative locations of format version 4 (format-reference 1.7): text without a URI scheme belongs to the table's root
 * folder. Concatenation and nothing else: no `.` or `..`, and double slashes stay.
 */

/** Whether a location begins with a URI scheme as RFC 3986 has it; one letter is enough. */
export function isAbsolute(location: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(location)
}

/** @param root - The table's root folder, as the metadata has it. */
export function relativeTo(root: string, location: string): string {
  return isAbsolute(location) ? location : `${root}/${location}`
}
