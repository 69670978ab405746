/** Cells in columns, numbers to the right. */
export function formatTable(lines: readonly (readonly string[])[]): string {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  return lines.map((line) => line.map((cell, column) => cell.padStart(widths[column])).join('  ')).join('\n')
}
