/**
 * What Java and PyIceberg answered to pairs of a table and a filter (fixtures/README.md says how it was recorded).
 *
 * | file                              | tables             | who answers                                       |
 * | --------------------------------- | ------------------ | ------------------------------------------------- |
 * | `java.expected.json`              | `oracles/java`     | Java                                              |
 * | `pyiceberg-on-java.expected.json` | the same           | PyIceberg, to the same filters                    |
 * | `pyiceberg.expected.json`         | `oracles/pyiceberg`| PyIceberg; `mustKeep` are files with matching rows |
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseJson } from '../../src/metadata/lossless-json.ts'
import type { JsonValue } from '../../src/types/value.ts'
import { projectRoot } from '../support/root.ts'

export interface AnsweredFile {
  readonly path: string
  /** Expression JSON; absent where Java fails on it. */
  readonly residual?: JsonValue
  readonly residualError?: string
  readonly deletes: readonly string[]
}

/** Java's counters; those without `scanned` or `result` in their names count what was skipped. */
export interface AnsweredCounters {
  readonly dataManifests: number
  readonly deleteManifests: number
  readonly dataFiles: number
  readonly deleteFiles: number
  readonly scannedDataManifests: number
  readonly scannedDeleteManifests: number
  readonly resultDataFiles: number
  readonly resultDeleteFiles: number
  readonly indexedDeleteFiles: number
  readonly equalityDeleteFiles: number
  readonly positionalDeleteFiles: number
  readonly dvs: number
}

export interface Answer {
  /** Absent where the oracle fails. */
  readonly files?: readonly AnsweredFile[]
  readonly error?: string
  /** Data files that PyIceberg had kept before it failed. */
  readonly dataFiles?: readonly string[]
}

export interface Pair extends Answer {
  /** `table/number`, unique in its oracle. */
  readonly id: string
  readonly filter: JsonValue
  readonly rowFilterText?: string
  readonly caseSensitive?: boolean
  readonly snapshotId?: string
  /** Residuals are true, and the metrics of delete files are not looked at: an option of Java's scans. */
  readonly ignoreResiduals?: boolean
  readonly rules: readonly string[]
  readonly reason: string
  readonly skipped?: AnsweredCounters
  readonly mustKeep?: readonly string[]
}

export interface AnsweredTable {
  /** Folder below fixtures/oracles. */
  readonly folder: string
  /** Name of the metadata file, where no version hint tells it. */
  readonly metadata?: string
  /** As recorded in the table's metadata. */
  readonly location: string
  readonly pairs: readonly Pair[]
}

export type Oracle = 'java' | 'pyiceberg'

interface Recorded {
  readonly tables: Readonly<Record<string, Omit<AnsweredTable, 'folder'>>>
}

export function answersOf(oracle: Oracle): AnsweredTable[] {
  const { tables } = readOracleFile(`${oracle}.expected.json`) as unknown as Recorded
  return Object.entries(tables).map(([name, table]) => ({
    ...table,
    folder: name.includes('/') ? name : `${oracle}/${name}`,
  }))
}

/** PyIceberg's answers to Java's pairs, by pair id. */
export function pyicebergOnJava(): Readonly<Partial<Record<string, Answer>>> {
  return (
    readOracleFile('pyiceberg-on-java.expected.json') as unknown as {
      readonly pairs: Record<string, Answer>
    }
  ).pairs
}

/** A JSON file of fixtures/oracles, with integers beyond 2^53 as `bigint`. */
export function readOracleFile(name: string): JsonValue {
  return parseJson(readFileSync(oracleFolder(name), 'utf8')) as JsonValue
}

export function oracleFolder(name: string): string {
  return fileURLToPath(new URL(`fixtures/oracles/${name}`, projectRoot()))
}

/** Names of data files are what is below the table's `data` folder. */
export function fileName(table: Pick<AnsweredTable, 'location'>, path: string): string {
  const prefix = `${table.location}/data/`
  return path.startsWith(prefix) ? path.slice(prefix.length) : path
}
