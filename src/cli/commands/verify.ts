/**
 * `iceplan verify`: every manifest list and manifest of a table, decoded twice and compared.
 */
import { formatJson, InvalidArgumentError, verifyTable } from '../../index.ts'
import type { ExitCode } from '../failure.ts'
import { EXIT } from '../failure.ts'
import { formatWarnings } from '../print-report.ts'
import { formatVerification, isClean, verificationToJson } from '../print-verification.ts'
import { startProgress } from '../progress.ts'
import { openTable } from '../open-table.ts'
import type { Run } from '../run.ts'
import type { TableOptions } from '../table-options.ts'
import { colorsFor } from '../text.ts'

export interface VerifyCommandOptions extends TableOptions {
  snapshotId?: bigint
  format: 'table' | 'json'
}

/** Resolves to 1 if the readers differ or a file cannot be read; rejects as `loadTable` does. */
export async function runVerify(name: string, options: VerifyCommandOptions, run: Run): Promise<ExitCode> {
  const { signal, stdout, stderr, out } = run
  const { snapshotId } = options
  const progress = startProgress(stderr)
  try {
    const table = await openTable(name, options, signal)
    const { metadata } = table
    if (snapshotId !== undefined && metadata.snapshotById(snapshotId) === undefined)
      throw new InvalidArgumentError(
        `Cannot find snapshot ${snapshotId} in ${metadata.metadataLocation}: it is none of the ${metadata.snapshots.length} there`,
        { location: metadata.metadataLocation },
      )
    const summary = await verifyTable(table, {
      ...(snapshotId === undefined ? {} : { snapshotId }),
      signal,
      onProgress: ({ filesDone, filesTotal }) => {
        progress.update(filesDone, filesTotal)
      },
    })
    progress.stop()
    out.add(
      options.format === 'json'
        ? `${formatJson(verificationToJson(summary))}\n`
        : formatVerification(summary, metadata.location ?? metadata.metadataLocation, colorsFor(stdout)),
    )
    await out.flush()
    stderr.write(formatWarnings(table.warnings, colorsFor(stderr)))
    return isClean(summary) ? EXIT.DONE : EXIT.FAILED
  } finally {
    progress.stop()
  }
}
