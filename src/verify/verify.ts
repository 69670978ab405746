/**
 * The door to `verifyTable`: loads the independent decoder only when it is used, so that planning does not pay for it.
 */
import type { VerifiedTable, VerifyOptions, VerifySummary } from './verify-table.ts'

export type { VerifyOptions, VerifyProgress, VerifySummary } from './verify-table.ts'

/**
 * Decodes every manifest list and manifest of a table twice, with this library's reader and with avsc, and compares
 * them field by field. Each file once, however many snapshots name it.
 *
 * Damaged and missing files end up in the summary. Rejects with the signal's reason when aborted, and never for what
 * a file holds.
 */
export async function verifyTable(table: VerifiedTable, options: VerifyOptions = {}): Promise<VerifySummary> {
  const { verifyTable: verify } = await import('./verify-table.ts')
  return verify(table, options)
}
