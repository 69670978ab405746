/**
 * A plan as one would write it with avsc: `node plain-avsc.mjs METADATA_JSON FILTER`. A type is made once a plan
 * and schema, every entry becomes an object with all of its fields, and position deletes are matched by partition or by the
 * path that they name. Filters are not looked at: FILTER changes nothing.
 */
import { Buffer } from 'node:buffer'
import fs from 'node:fs/promises'
import process from 'node:process'
import { inflateRawSync } from 'node:zlib'
import avro from 'avsc'
import { servePlans } from './protocol.mjs'

/** Ids are beyond 2^53, where avsc's own longs throw: the documented way out. */
const LONG = avro.types.LongType.__with({
  fromBuffer: (bytes) => bytes.readBigInt64LE(),
  toBuffer: (value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value) => typeof value === 'bigint',
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
})

const HEADER = avro.Type.forSchema({ type: 'map', values: 'bytes' })
/** Count of records, then bytes of them. */
const BLOCK = avro.Type.forSchema({
  type: 'record',
  name: 'block',
  fields: [
    { name: 'count', type: 'long' },
    { name: 'data', type: 'bytes' },
  ],
})
const MAGIC_BYTES = 4
const SYNC_BYTES = 16
const FILE_PATH_ID = 2147483546
const DELETED = 2

/** Schema text to type, for one plan. */
const types = new Map()

function typeOf(schemaText) {
  let type = types.get(schemaText)
  if (type === undefined) {
    type = avro.Type.forSchema(JSON.parse(schemaText), { registry: { long: LONG } })
    types.set(schemaText, type)
  }
  return type
}

/** All records of a container file. */
async function readRecords(location) {
  const bytes = await fs.readFile(location)
  const { value: header, offset } = HEADER.decode(bytes, MAGIC_BYTES)
  const type = typeOf(header['avro.schema'].toString())
  const codec = header['avro.codec']?.toString() ?? 'null'
  if (codec !== 'deflate' && codec !== 'null')
    throw new Error(`Cannot read ${location}: the codec is ${codec}`)
  const records = []
  for (let at = offset + SYNC_BYTES; at < bytes.length; at += SYNC_BYTES) {
    const block = BLOCK.decode(bytes, at)
    at = block.offset
    const data = codec === 'deflate' ? inflateRawSync(block.value.data) : block.value.data
    for (let i = 0, from = 0; i < block.value.count; i++) {
      const record = type.decode(data, from)
      from = record.offset
      records.push(record.value)
    }
  }
  return records
}

/** The live entries of a manifest, with the sequence number that new ones inherit. */
async function readEntries(manifest) {
  const entries = (await readRecords(manifest.manifest_path)).filter(({ status }) => status !== DELETED)
  for (const entry of entries) entry.sequence_number ??= manifest.sequence_number
  return entries
}

const partitionKey = (manifest, { data_file: file }) =>
  `${manifest.partition_spec_id} ${JSON.stringify(file.partition, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`

/** The data file that a position delete file names, if it names one. */
function targetOf({ data_file: file }) {
  if (file.referenced_data_file != null) return file.referenced_data_file
  const bound = (bounds) => bounds?.find(({ key }) => key === FILE_PATH_ID)?.value.toString()
  const lower = bound(file.lower_bounds)
  return lower !== undefined && lower === bound(file.upper_bounds) ? lower : undefined
}

/** Position deletes by the path that they name, or by partition; those of a key descend by sequence number. */
async function indexDeletes(manifests) {
  const [byPath, byPartition] = [new Map(), new Map()]
  for (const manifest of manifests) {
    for (const entry of await readEntries(manifest)) {
      if (entry.data_file.content !== 1) throw new Error('Cannot match equality deletes: this peer is simple')
      const target = targetOf(entry)
      const [index, key] =
        target === undefined ? [byPartition, partitionKey(manifest, entry)] : [byPath, target]
      const group = index.get(key)
      if (group === undefined) index.set(key, [entry])
      else group.push(entry)
    }
  }
  for (const index of [byPath, byPartition])
    for (const group of index.values())
      group.sort((a, b) => LONG.compare(b.sequence_number, a.sequence_number))
  return { byPath, byPartition }
}

/** Deletes apply to files that are no younger. */
function applying(group, sequenceNumber) {
  if (group === undefined) return []
  const end = group.findIndex((entry) => entry.sequence_number < sequenceNumber)
  return end < 0 ? group : group.slice(0, end)
}

const metadataText = await fs.readFile(process.argv[2], 'utf8')
// Ids lose digits here, all in the same way.
const metadata = JSON.parse(metadataText)
const snapshot = metadata.snapshots.find((one) => one['snapshot-id'] === metadata['current-snapshot-id'])

await servePlans(async (onTask) => {
  types.clear()
  const manifests = await readRecords(snapshot['manifest-list'])
  const { byPath, byPartition } = await indexDeletes(manifests.filter(({ content }) => content === 1))
  for (const manifest of manifests) {
    if (manifest.content === 1) continue
    for (const entry of await readEntries(manifest)) {
      const { file_path: filePath, record_count: recordCount } = entry.data_file
      const ofPath = applying(byPath.get(filePath), entry.sequence_number)
      const ofPartition =
        byPartition.size === 0
          ? []
          : applying(byPartition.get(partitionKey(manifest, entry)), entry.sequence_number)
      onTask(filePath, Number(recordCount), ofPath.length + ofPartition.length)
    }
  }
})
