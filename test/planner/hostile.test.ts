/**
 * Files that are not what they should be. Whatever they hold, a plan ends: with tasks, or with an error of ours that
 * names the file.
 */
import { deflateRawSync } from 'node:zlib'
import { assert } from 'chai'
import fc from 'fast-check'
import { isIcebergError } from '../../src/errors.ts'
import type { ScanPlanner } from '../../src/planner/scan-planner.ts'
import { ByteWriter } from '../support/byte-writer.ts'
import { writeContainer } from '../support/avro-container.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import {
  type BuiltTable,
  buildTable,
  extraFieldsOfEveryType,
  type ManifestInput,
  Preencoded,
  singleValueBytes,
  type TableInput,
  writeManifest,
} from '../support/table-writer.ts'
import { freshPlanner, pathsOf, planBuilt, SCHEMA } from './planning.ts'

const MANIFESTS: readonly ManifestInput[] = [
  {
    entries: [
      {
        dataFile: {
          filePath: 'data/a',
          partition: ['eu'],
          splitOffsets: [4, 100],
          valueCounts: { 1: 10 },
          lowerBounds: { 1: singleValueBytes('long', 1n) },
        },
      },
      { status: 0, sequenceNumber: 1, dataFile: { filePath: 'data/b', partition: [null] } },
      { status: 2, dataFile: { filePath: 'data/c', partition: ['us'] } },
    ],
  },
  {
    content: 'deletes',
    entries: [{ dataFile: { content: 2, equalityIds: [1], filePath: 'deletes/e', partition: ['eu'] } }],
  },
]

function tableWith(write: TableInput['write'] = {}, manifests = MANIFESTS): BuiltTable {
  return buildTable({
    schema: SCHEMA,
    specs: [{ fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] }],
    snapshots: [{ manifests }],
    write,
  })
}

const built = tableWith()
const LIST = built.snapshots[0].manifestList!
const [DATA, DELETES] = built.snapshots[0].rows.map(({ manifestPath }) => manifestPath)
const FILES = { list: LIST, 'data manifest': DATA, 'delete manifest': DELETES }

/** Plans the table with one file replaced. */
function planWith(
  location: string,
  bytes: Uint8Array | undefined,
  base = built,
  planner: ScanPlanner = freshPlanner(),
): Promise<string[]> {
  const files = new Map(base.files)
  if (bytes === undefined) files.delete(location)
  else files.set(location, bytes)
  return planBuilt({ ...base, files }, { planner }).then(({ tasks }) => pathsOf(tasks))
}

/** How a plan ends; anything but tasks or an error of ours with a location fails the test. */
async function outcome(plan: Promise<string[]>): Promise<string> {
  try {
    await plan
    return 'tasks'
  } catch (error) {
    if (!isIcebergError(error)) throw error
    assert.isString(error.location, error.message)
    assert.isNotEmpty(error.location)
    return error.code
  }
}

async function fails(
  location: string,
  bytes: Uint8Array | undefined,
  codes: RegExp,
  base = built,
): Promise<void> {
  let error: unknown
  try {
    await planWith(location, bytes, base)
  } catch (reason) {
    error = reason
  }
  assert.isTrue(isIcebergError(error), `ended with ${String(error)}`)
  if (!isIcebergError(error)) return
  assert.match(error.code, codes, error.message)
  assert.equal(error.location, location)
  assert.include(error.message, location)
}

const bytesOf = (location: string): Uint8Array => built.files.get(location)!
const BROKEN = /^ERR_CORRUPT_FILE$/

describe('hostile tables', () => {
  it('the table itself is fine', async () => {
    assert.deepEqual(await planWith(LIST, bytesOf(LIST)), ['data/a', 'data/b'])
  })

  describe('files that are missing, empty, broken off or another kind of file', () => {
    const nothing = Buffer.alloc(0)
    const parquet = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(100), Buffer.from('PAR1')])
    const others: [what: string, bytes: Uint8Array | undefined, codes: RegExp][] = [
      ['missing', undefined, /^ERR_NOT_FOUND$/],
      ['empty', nothing, BROKEN],
      ['one byte', Buffer.from('O'), BROKEN],
      ['only the magic', Buffer.from('Obj\x01'), BROKEN],
      ['text', Buffer.from('<html>404</html>'), BROKEN],
      ['JSON', bytesOf(built.metadataLocation), BROKEN],
      ['a data file', parquet, /^ERR_(CORRUPT_FILE|UNSUPPORTED)$/],
      [
        'an encrypted Parquet file',
        Buffer.from('PARE'.padEnd(100, '\0')),
        /^ERR_(CORRUPT_FILE|UNSUPPORTED)$/,
      ],
      ['an ORC file', Buffer.from('ORC'.padEnd(100, '\0')), BROKEN],
      ['a Puffin file', Buffer.from('PFA1'.padEnd(100, '\0')), BROKEN],
      ['zeros', Buffer.alloc(5000), BROKEN],
      ['0xff', Buffer.alloc(5000, 255), BROKEN],
      ['foreign Avro', foreignAvro(), BROKEN],
      ['foreign Avro without records', foreignAvro(0), BROKEN],
      ['Avro of a string', writeContainer('string', ['x']), BROKEN],
    ]
    for (const [name, location] of Object.entries(FILES))
      for (const [what, bytes, codes] of others) it(`${name}: ${what}`, () => fails(location, bytes, codes))
  })

  describe('swapped files', () => {
    const rows: [what: string, location: string, instead: string][] = [
      ['a manifest where the list should be', LIST, DATA],
      ['a delete manifest where the list should be', LIST, DELETES],
      ['the list where a data manifest should be', DATA, LIST],
      ['the list where a delete manifest should be', DELETES, LIST],
      ['a delete manifest where a data manifest should be (R4.17)', DATA, DELETES],
      ['a data manifest where a delete manifest should be (R4.14)', DELETES, DATA],
    ]
    for (const [what, location, instead] of rows) it(what, () => fails(location, bytesOf(instead), BROKEN))
  })

  describe('field ids', () => {
    for (const [name, location] of Object.entries(FILES))
      it(`${name}: only some fields carry one`, () =>
        fails(location, tableWith({ fieldIds: 'some' }).files.get(location), BROKEN))

    it('no field carries one: matched by name', async () => {
      const { files } = tableWith({ fieldIds: 'none' })
      for (const location of Object.values(FILES))
        assert.deepEqual(await planWith(location, files.get(location)), ['data/a', 'data/b'])
    })

    it('fields that nobody knows are ignored', async () => {
      const extraFields = (['entry', 'dataFile', 'manifestFile', 'summary'] as const).flatMap((r) =>
        extraFieldsOfEveryType(r, 1),
      )
      const { files } = tableWith({ extraFields })
      for (const location of Object.values(FILES))
        assert.deepEqual(await planWith(location, files.get(location)), ['data/a', 'data/b'])
    })

    for (const [id, name] of [
      [0, 'status'],
      [2, 'data_file'],
      [100, 'file_path'],
      [103, 'record_count'],
      [104, 'file_size_in_bytes'],
    ] as const)
      it(`a manifest without the required field ${id}, ${name}`, () =>
        fails(DATA, tableWith({ omit: [id] }).files.get(DATA), BROKEN))

    for (const [id, name] of [
      [500, 'manifest_path'],
      [501, 'manifest_length'],
      [502, 'partition_spec_id'],
    ] as const)
      it(`a list without the required field ${id}, ${name}`, () =>
        fails(LIST, tableWith({ omit: [id] }).files.get(LIST), BROKEN))
  })

  describe('lengths that lie', () => {
    const lies: [what: string, length: bigint][] = [
      ['one too many', 7n],
      ['2 GiB', 2n ** 31n],
      ['1 TiB', 2n ** 40n],
      ['the greatest', 2n ** 63n - 1n],
      ['negative', -1n],
      ['the least', -(2n ** 63n)],
    ]
    for (const [what, length] of lies) {
      it(`a string of ${what}`, () => fails(DATA, manifestWith({ filePath: claimed(length) }), BROKEN))
      it(`bytes of ${what}`, () => fails(DATA, manifestWith({ keyMetadata: claimed(length) }), BROKEN))
      it(`an array of ${what}`, () => fails(DATA, manifestWith({ splitOffsets: claimed(length) }), BROKEN))
      it(`a bound of ${what}`, () =>
        fails(DATA, manifestWith({ lowerBounds: new Map([[1, claimed(length)]]) }), BROKEN))
      it(`an array of ${what} that nobody reads`, () => {
        const field = { name: 'unknown', type: { type: 'array', items: 'int' } as const, 'field-id': 9999 }
        const extraFields = [{ in: 'dataFile' as const, at: 0, field, value: claimed(length) }]
        return fails(DATA, tableWith({ codec: 'null', extraFields }).files.get(DATA), BROKEN)
      })
      if (what === 'one too many') continue
      it(`a path in the list of ${what}`, () => {
        const row = { manifestPath: claimed(length) }
        const { files } = tableWith({}, [{ ...MANIFESTS[0], path: DATA, row: row as never }])
        return fails(LIST, files.get(LIST), BROKEN)
      })
      it(`a block of ${what} records`, () => fails(DATA, blockOf(length, 10n), BROKEN))
      it(`a block of ${what} bytes`, () => fails(DATA, blockOf(1n, length), BROKEN))
      it(`a header of ${what} keys`, () =>
        fails(DATA, Buffer.concat([Buffer.from('Obj\x01'), long(length), bytesOf(DATA).subarray(5)]), BROKEN))
    }

    it('sizes that nobody believes cost no memory', async () => {
      const before = process.memoryUsage().arrayBuffers
      for (const [, length] of lies) {
        await outcome(planWith(DATA, manifestWith({ filePath: claimed(length) })))
        await outcome(planWith(DATA, manifestWith({ splitOffsets: claimed(length) })))
        await outcome(planWith(DATA, blockOf(length, 10n)))
        await outcome(planWith(DATA, blockOf(1n, length)))
      }
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 64 * 1024 * 1024)
    })

    it('a block that unfolds a thousandfold and holds nothing', () => {
      const bomb = deflateRawSync(Buffer.alloc(32 * 1024 * 1024))
      return fails(DATA, replaceBlocks(bytesOf(DATA), long(1n), long(BigInt(bomb.length)), bomb), BROKEN)
    })

    it('ten million records of no bytes', () => {
      const schema = { type: 'record', name: 'manifest_entry', fields: [] }
      const empty = writeContainer(schema, [{}], {}, { codec: 'null' })
      return fails(DATA, replaceBlocks(empty, long(10_000_000n), long(0n)), BROKEN)
    })
  })

  describe('values that make no sense', () => {
    const rows: [what: string, entry: ManifestInput['entries'][number]][] = [
      ['a status of 3', { status: 3 }],
      ['a negative status', { status: -1 }],
      ['a content of 9', { dataFile: { content: 9 } }],
      ['a negative data sequence number', { sequenceNumber: -1 }],
      ['a record count beyond 2^53', { dataFile: { recordCount: 2n ** 60n } }],
    ]
    for (const [what, entry] of rows)
      it(what, async () => {
        const partition = [{ fieldId: 1000, name: 'region', avroType: 'string' }]
        await fails(DATA, writeManifest({ entries: [entry], partition, schema: SCHEMA }), BROKEN)
      })
  })

  describe('damage', () => {
    const plainTable = tableWith({ codec: 'null' })
    for (const [name, location] of Object.entries(FILES))
      it(`${name}: cut anywhere, it is never taken for whole`, async function () {
        this.timeout(60_000)
        const bytes = bytesOf(location)
        const step = Math.max(1, Math.floor(bytes.length / 150))
        for (let end = 0; end < bytes.length; end += step) {
          const ended = await outcome(planWith(location, bytes.subarray(0, end)))
          // Between the header and the first block a file may end: it holds nothing then.
          if (ended === 'tasks') assert.equal(end, headerLength(bytes))
        }
      })

    for (const [name, location] of Object.entries(FILES))
      it(`${name}: some bytes are others: tasks, or an error with a location ${WITH_SEED}`, async function () {
        this.timeout(60_000)
        const bytes = plainTable.files.get(location)!
        const change = fc.record({
          at: fc.nat(bytes.length - 1),
          to: fc.oneof(fc.constantFrom(0, 1, 2, 127, 128, 254, 255), fc.nat(255)),
        })
        await fc.assert(
          fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
            const damaged = Uint8Array.from(bytes)
            for (const { at, to } of changes) damaged[at] = to
            await outcome(planWith(location, damaged, plainTable))
          }),
          { seed: SEED, numRuns: 250 },
        )
      })

    it('a planner that met a broken file plans on', async () => {
      const planner = freshPlanner()
      for (const location of Object.values(FILES))
        assert.notEqual(await outcome(planWith(location, Buffer.from('Obj\x01'), built, planner)), 'tasks')
      assert.deepEqual(await planWith(LIST, bytesOf(LIST), built, planner), ['data/a', 'data/b'])
    })
  })
})

function foreignAvro(records = 3): Uint8Array {
  const schema = {
    type: 'record',
    name: 'user',
    fields: [
      { name: 'name', type: 'string' },
      { name: 'age', type: 'int' },
    ],
  }
  return writeContainer(
    schema,
    Array.from({ length: records }, () => ({ name: 'x', age: 7 })),
  )
}

function long(value: bigint): Uint8Array {
  const out = new ByteWriter(16)
  out.long(value)
  return out.toBytes()
}

/** A value that states a length and has six bytes of it. */
function claimed(length: bigint): Preencoded {
  return new Preencoded(Buffer.concat([long(length), Buffer.from('data/x')]))
}

/** The data manifest, uncompressed, with a value that does not keep its word. */
function manifestWith(file: Readonly<Record<string, unknown>>): Uint8Array {
  const entries = [{ dataFile: { partition: ['eu'], ...file } as never }]
  return tableWith({ codec: 'null' }, [{ entries }]).files.get(DATA)!
}

/** The data manifest, with one block that states these numbers. */
function blockOf(records: bigint, size: bigint): Uint8Array {
  return replaceBlocks(
    tableWith({ codec: 'null' }).files.get(DATA)!,
    long(records),
    long(size),
    Buffer.alloc(10, 2),
  )
}

/** The header of a container, and then these bytes and the marker. */
function replaceBlocks(container: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const end = headerLength(container)
  return Buffer.concat([container.subarray(0, end), ...parts, container.subarray(end - 16, end)])
}

/** Up to and with the first sync marker: the file's last 16 bytes, where they stand first. */
function headerLength(container: Uint8Array): number {
  return Buffer.from(container).indexOf(container.subarray(-16)) + 16
}
