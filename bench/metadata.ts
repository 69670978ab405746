/**
 * A table with a long history: parsing a metadata file of 100 MB with 10,000 snapshots, in a process of its own, so that
 * its peak memory can be told.
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Group } from './corpus.ts'
import type { Size } from './fixtures.ts'
import type { Outcome } from './measure.ts'

/** Snapshots, and partitions that the summary of each counts, as writers do when asked to: that makes such files long. */
const SHAPES = { real: [10_000, 80], smoke: [20, 3] } as const

export function metadataGroup(): Group {
  const [time, memory] = ['parse', 'peak-memory'].map((kind) => `metadata/${kind}`)
  return {
    name: 'metadata',
    cases: [time, memory],
    maxRounds: 5,
    warmUps: 0,
    prepare: (size) => {
      const location = metadataOnDisk(size)
      const note = `The file has ${(fs.statSync(location).size / 1e6).toFixed(1)} MB.`
      return Promise.resolve({
        subjects: [
          { name: time, run: async () => ({ ...(await runParse(location)).time, note }) },
          { name: memory, unit: 'MB', run: async () => (await runParse(location)).memory },
        ],
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    },
  }
}

const execute = promisify(execFile)

async function runParse(location: string): Promise<{ time: Outcome; memory: Outcome }> {
  const script = fileURLToPath(new URL('./one-parse.js', import.meta.url))
  const { stdout } = await execute(process.execPath, [script, location])
  const { checksum, milliseconds, peakBytes } = JSON.parse(stdout) as {
    checksum: number
    milliseconds: number
    peakBytes: number
  }
  return { time: { checksum, value: milliseconds }, memory: { checksum, value: peakBytes / 1e6 } }
}

/** The file, made if it is not there yet, under another name first. */
function metadataOnDisk(size: Size): string {
  const location = path.join(os.tmpdir(), `iceplan-bench-metadata-${size}.json`)
  if (fs.existsSync(location)) return location
  const unfinished = `${location}.${process.pid}`
  const file = fs.openSync(unfinished, 'w')
  const [snapshots, partitions] = SHAPES[size]
  for (const text of metadataText(snapshots, partitions)) fs.writeSync(file, text)
  fs.closeSync(file)
  fs.renameSync(unfinished, location)
  return location
}

const FIRST_SNAPSHOT_ID = 3051729675574597001n
const FIRST_TIMESTAMP_MS = 1_790_000_000_000

function* metadataText(snapshots: number, partitions: number): Generator<string> {
  const idOf = (i: number) => (FIRST_SNAPSHOT_ID + BigInt(i)).toString()
  const timeOf = (i: number) => FIRST_TIMESTAMP_MS + i * 60_000
  const last = snapshots - 1
  yield `{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://lake/long",`
  yield `"last-sequence-number":${snapshots},"last-updated-ms":${timeOf(last)},"last-column-id":1,"current-schema-id":0,`
  yield `"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}],`
  yield `"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,`
  yield `"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{},`
  yield `"current-snapshot-id":${idOf(last)},"refs":{"main":{"snapshot-id":${idOf(last)},"type":"branch"}},"snapshots":[`
  for (let i = 0; i < snapshots; i++) {
    const parent = i === 0 ? '' : `"parent-snapshot-id":${idOf(i - 1)},`
    const summary = { operation: 'append', ...Object.fromEntries(partitionCounters(i, partitions)) }
    yield `${i === 0 ? '' : ','}{"sequence-number":${i + 1},"snapshot-id":${idOf(i)},${parent}"timestamp-ms":${timeOf(i)},`
    yield `"summary":${JSON.stringify(summary)},"manifest-list":"s3://lake/long/metadata/snap-${idOf(i)}-1.avro","schema-id":0}`
  }
  yield `],"snapshot-log":[`
  for (let i = 0; i < snapshots; i++)
    yield `${i === 0 ? '' : ','}{"timestamp-ms":${timeOf(i)},"snapshot-id":${idOf(i)}}`
  yield `],"metadata-log":[],"statistics":[]}`
}

function* partitionCounters(snapshot: number, partitions: number): Generator<[string, string]> {
  for (let i = 0; i < partitions; i++) {
    const counters = `added-data-files=${i},added-records=${snapshot * 1000 + i},added-files-size=${snapshot * 1_000_000 + i}`
    yield [`partitions.ts_day=2026-10-28/id_bucket=${i}`, counters]
  }
}
