/** What entries take from their manifest's row in the list: R4.1 to R4.9, traps 9 to 12. */
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { EntryStatus } from '../../src/manifest/inheritable-metadata.ts'
import { ManifestContent } from '../../src/manifest/manifest-file.ts'
import type { EntryInput, ManifestOptions } from '../support/manifest-writer.ts'
import { thrown } from '../support/rejection.ts'
import { ADDED_SNAPSHOT_ID, entryOf, manifestFile, MANIFEST_PATH, roundTrip } from './manifest-reading.ts'

const { EXISTING, ADDED, DELETED } = EntryStatus
const STATUS_NAMES = ['EXISTING', 'ADDED', 'DELETED']

describe('snapshot id of an entry (R4.1)', () => {
  const own = 9007199254740993n
  const rows: [why: string, entry: EntryInput, snapshotId: bigint][] = [
    ['null inherits, ADDED', { status: ADDED }, ADDED_SNAPSHOT_ID],
    ['null inherits, EXISTING', { status: EXISTING }, ADDED_SNAPSHOT_ID],
    ['null inherits, DELETED: who removed it added the manifest', { status: DELETED }, ADDED_SNAPSHOT_ID],
    ['its own is kept, ADDED', { status: ADDED, snapshotId: own }, own],
    ['its own is kept, EXISTING: the snapshot that added it', { status: EXISTING, snapshotId: own }, own],
    ['B035: its own is kept, DELETED', { status: DELETED, snapshotId: own }, own],
    ['0 is a snapshot id', { status: ADDED, snapshotId: 0 }, 0n],
    ['the greatest id', { snapshotId: 2n ** 63n - 1n }, 2n ** 63n - 1n],
  ]
  for (const [why, entry, snapshotId] of rows)
    it(why, () => {
      assert.equal(entryOf(roundTrip({ entries: [entry] })).snapshotId, snapshotId)
    })

  it('the whole column is missing', () => {
    assert.equal(entryOf(roundTrip({ entries: [{}], omit: [1] })).snapshotId, ADDED_SNAPSHOT_ID)
  })

  for (const id of [1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n - 1n, 0n])
    it(`the inherited id ${id} arrives exactly`, () => {
      assert.equal(entryOf(roundTrip({ entries: [{}] }, { addedSnapshotId: id })).snapshotId, id)
    })

  it('an id that is needed and that the manifest lacks is an error', () => {
    const error = thrown(() =>
      roundTrip({ entries: [{ snapshotId: 1 }, {}] }, { addedSnapshotId: undefined }),
    )
    assert.isTrue(isIcebergError(error, 'ERR_INVALID_METADATA'))
    assert.equal(error.location, MANIFEST_PATH)
    assert.equal(error.entry, 1)
    assert.match(error.message, /added_snapshot_id/)
  })

  it('an id that nobody needs may be missing', () => {
    assert.equal(
      entryOf(roundTrip({ entries: [{ snapshotId: 1 }] }, { addedSnapshotId: undefined })).snapshotId,
      1n,
    )
  })
})

describe('sequence numbers of an entry (R4.2, R4.3)', () => {
  const rows: [
    why: string,
    status: number,
    listed: bigint,
    stored: bigint | undefined,
    is: bigint | undefined,
  ][] = [
    ['a new file takes the number of its commit', ADDED, 7n, undefined, 7n],
    ['trap 9: an existing file does not take a later number', EXISTING, 7n, undefined, undefined],
    ['nor does a deleted one', DELETED, 7n, undefined, undefined],
    ['a manifest of v1: 0', ADDED, 0n, undefined, 0n],
    ['trap 9, B032: a manifest of v1: 0 whatever the status', EXISTING, 0n, undefined, 0n],
    ['a manifest of v1: 0 for deleted files too', DELETED, 0n, undefined, 0n],
    ['a value is never overwritten', ADDED, 7n, 3n, 3n],
    ['nor of an existing file', EXISTING, 7n, 3n, 3n],
    ['nor of a deleted one', DELETED, 7n, 3n, 3n],
    ['nor by 0', EXISTING, 0n, 3n, 3n],
    ["nor if it is larger than the manifest's", ADDED, 7n, 9n, 9n],
    ['an explicit 0 is no null', ADDED, 7n, 0n, 0n],
    ['64 bits', ADDED, 2n ** 62n + 1n, undefined, 2n ** 62n + 1n],
    ['a low word with its top bit set', ADDED, 2n ** 31n, undefined, 2n ** 31n],
    ['stored 64 bits', EXISTING, 7n, 2n ** 63n - 1n, 2n ** 63n - 1n],
  ]
  const fields = ['sequenceNumber', 'fileSequenceNumber'] as const
  for (const field of fields)
    for (const [why, status, listed, stored, is] of rows)
      it(`${field}, ${STATUS_NAMES[status]}, manifest ${listed}, entry ${stored ?? 'null'}: ${why}`, () => {
        const entry: EntryInput = { status, ...(stored === undefined ? {} : { [field]: stored }) }
        const read = entryOf(roundTrip({ entries: [entry] }, { sequenceNumber: listed }))
        assert.equal(read[field], is)
        const ofFile = field === 'sequenceNumber' ? 'dataSequenceNumber' : field
        assert.equal(read.dataFile[ofFile], is)
      })

  const independent: [why: string, entry: EntryInput, data: bigint | undefined, file: bigint | undefined][] =
    [
      ['trap 10, B034: compacted, keeps its data number', { status: ADDED, sequenceNumber: 3 }, 3n, 10n],
      ['only the file number is stored', { status: ADDED, fileSequenceNumber: 4 }, 10n, 4n],
      ['existing, only the data number is stored', { status: EXISTING, sequenceNumber: 3 }, 3n, undefined],
      [
        'existing, only the file number is stored',
        { status: EXISTING, fileSequenceNumber: 3 },
        undefined,
        3n,
      ],
      ['both are stored', { status: ADDED, sequenceNumber: 3, fileSequenceNumber: 5 }, 3n, 5n],
    ]
  for (const [why, entry, data, file] of independent)
    it(`R4.4: the two are independent: ${why}`, () => {
      const read = entryOf(roundTrip({ entries: [entry] }, { sequenceNumber: 10n }))
      assert.deepEqual([read.sequenceNumber, read.fileSequenceNumber], [data, file])
    })

  const schemas: [
    why: string,
    write: Partial<ManifestOptions>,
    listed: bigint,
    is: (bigint | undefined)[],
  ][] = [
    ['B004, B032, R4.5: v1 manifest in a v2 list', { formatVersion: 1 }, 0n, [0n, 0n, 0n]],
    ['R4.5: v1 manifest listed with a number', { formatVersion: 1 }, 7n, [undefined, 7n, undefined]],
    ['B029: v2 manifest without the columns', { omit: [3, 4] }, 7n, [undefined, 7n, undefined]],
    ['B029: v2 manifest without the columns, listed with 0', { omit: [3, 4] }, 0n, [0n, 0n, 0n]],
    ['no name, no ids: the same by name', { fieldIds: 'none' }, 7n, [undefined, 7n, undefined]],
  ]
  for (const [why, write, listed, is] of schemas)
    it(why, () => {
      const entries = [EXISTING, ADDED, DELETED].map((status) => ({ status }))
      const manifest = roundTrip({ entries, ...write }, { sequenceNumber: listed })
      const read = Array.from(manifest.entries)
      assert.deepEqual(
        read.map((entry) => entry.sequenceNumber),
        is,
      )
      assert.deepEqual(
        read.map((entry) => entry.fileSequenceNumber),
        is,
      )
    })

  it('B041: a deletion vector without a number is undefined, never -1 or 0', () => {
    const dataFile = { content: 1, fileFormat: 'PUFFIN', referencedDataFile: 'a.parquet' }
    const manifest = roundTrip(
      { entries: [{ status: EXISTING, dataFile }], content: 'deletes' },
      { sequenceNumber: 7n },
    )
    assert.isUndefined(entryOf(manifest).sequenceNumber)
    assert.isTrue(manifest.batch.isNull(0, 'sequenceNumber'))
  })

  it('R4.6: -1, which writers use before a commit, is refused for a live entry', () => {
    const bad: [entry: EntryInput, listed: bigint][] = [
      [{ status: ADDED, sequenceNumber: -1 }, 7n],
      [{ status: EXISTING, sequenceNumber: -1 }, 7n],
      [{ status: ADDED }, -1n],
    ]
    for (const [entry, listed] of bad) {
      const error = thrown(() => roundTrip({ entries: [entry] }, { sequenceNumber: listed }))
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
      assert.match(error.message, /sequence number -1/)
    }
    const deleted = roundTrip({ entries: [{ status: DELETED, sequenceNumber: -1 }] }, { sequenceNumber: 7n })
    assert.isFalse(entryOf(deleted).isLive)
  })
})

describe('first row id of an entry (R4.8, R4.9)', () => {
  interface Row {
    why: string
    /** Status, record count, stored id. */
    entries: [status: number, recordCount: number | bigint, stored?: number | bigint][]
    /** Of the list's row. */
    from?: bigint
    is: (bigint | undefined)[]
    write?: Partial<ManifestOptions>
  }
  const rows: Row[] = [
    {
      why: 'trap 11: DELETED is left alone, an explicit id is kept, neither advances the counter',
      from: 100n,
      entries: [
        [DELETED, 50],
        [ADDED, 10, 7],
        [ADDED, 20],
        [EXISTING, 5],
      ],
      is: [undefined, 7n, 100n, 120n],
    },
    {
      why: 'B037: a DELETED entry between two others takes no range',
      from: 100n,
      entries: [
        [ADDED, 10],
        [DELETED, 5],
        [ADDED, 10],
      ],
      is: [100n, undefined, 110n],
    },
    { why: 'a DELETED entry keeps its explicit id', from: 100n, entries: [[DELETED, 5, 42]], is: [42n] },
    {
      why: 'trap 12: without one in the list, explicit ids are cleared',
      entries: [
        [ADDED, 1, 42],
        [EXISTING, 1],
        [DELETED, 1, 43],
      ],
      is: [undefined, undefined, undefined],
    },
    {
      why: '0 is an id, not "none"',
      from: 0n,
      entries: [
        [ADDED, 3],
        [ADDED, 1],
        [EXISTING, 1, 0],
      ],
      is: [0n, 3n, 0n],
    },
    {
      why: 'an empty file advances nothing',
      from: 5n,
      entries: [
        [ADDED, 0],
        [ADDED, 0],
        [ADDED, 2],
        [ADDED, 1],
      ],
      is: [5n, 5n, 5n, 7n],
    },
    {
      why: 'B036: a v2 manifest, which has no column for it, in a v3 list',
      from: 1000n,
      entries: [
        [EXISTING, 4],
        [ADDED, 6],
      ],
      is: [1000n, 1004n],
      write: { formatVersion: 2 },
    },
    {
      why: 'B036: a v1 manifest in a v3 list',
      from: 1000n,
      entries: [
        [EXISTING, 4],
        [ADDED, 6],
      ],
      is: [1000n, 1004n],
      write: { formatVersion: 1 },
    },
    {
      why: 'past 2^32',
      from: 2n ** 32n - 5n,
      entries: [
        [ADDED, 5],
        [ADDED, 2 ** 33],
        [ADDED, 1],
      ],
      is: [2n ** 32n - 5n, 2n ** 32n, 2n ** 33n + 2n ** 32n],
    },
    {
      why: 'with the top bit of the low word set',
      from: 2n ** 31n - 1n,
      entries: [
        [ADDED, 1],
        [ADDED, 1],
      ],
      is: [2n ** 31n - 1n, 2n ** 31n],
    },
    {
      why: 'past 2^53 in the list',
      from: 2n ** 53n + 1n,
      entries: [
        [ADDED, 3],
        [ADDED, 1],
      ],
      is: [2n ** 53n + 1n, 2n ** 53n + 4n],
    },
    {
      why: 'past 2^53 by counting: no count is rounded away',
      from: 1n,
      entries: [
        [ADDED, 1],
        [ADDED, 2n ** 53n],
        [ADDED, 2n ** 53n],
        [ADDED, 1],
        [ADDED, 1],
      ],
      is: [1n, 2n, 2n ** 53n + 2n, 2n ** 54n + 2n, 2n ** 54n + 3n],
    },
    {
      why: 'across 2^52, where the counter changes its form',
      from: 2n ** 52n - 3n,
      entries: [
        [ADDED, 2],
        [ADDED, 2],
        [ADDED, 2n ** 52n],
        [ADDED, 7],
        [ADDED, 7],
      ],
      is: [2n ** 52n - 3n, 2n ** 52n - 1n, 2n ** 52n + 1n, 2n ** 53n + 1n, 2n ** 53n + 8n],
    },
    {
      why: 'an explicit id past 2^53 is exact',
      from: 0n,
      entries: [[EXISTING, 1, 2n ** 62n + 1n]],
      is: [2n ** 62n + 1n],
    },
  ]
  for (const { why, entries, from, is, write } of rows)
    it(why, () => {
      const manifest = roundTrip(
        {
          formatVersion: 3,
          entries: entries.map(([status, recordCount, firstRowId]) => ({
            status,
            dataFile: { recordCount, ...(firstRowId === undefined ? {} : { firstRowId }) },
          })),
          ...write,
        },
        { sequenceNumber: 0n, firstRowId: from },
      )
      assert.deepEqual(
        Array.from(manifest.entries, ({ dataFile }) => dataFile.firstRowId),
        is,
      )
    })

  it('a negative record count is refused where ids are assigned', () => {
    const entries = [{ dataFile: { recordCount: 4 } }, { dataFile: { recordCount: -1 } }]
    const error = thrown(() => roundTrip({ entries }, { firstRowId: 0n }))
    assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
    assert.equal(error.entry, 1)
    assert.match(error.message, /record count -1/)
  })

  it('trap 26: and accepted elsewhere: no ids, an explicit id, a deleted entry', () => {
    const unknown = { recordCount: -1 }
    assert.equal(entryOf(roundTrip({ entries: [{ dataFile: unknown }] })).dataFile.recordCount, -1)
    const entries = [
      { dataFile: { ...unknown, firstRowId: 3 } },
      { status: DELETED, dataFile: unknown },
      { dataFile: { recordCount: 1 } },
    ]
    const manifest = roundTrip({ entries, formatVersion: 3 }, { firstRowId: 9n })
    assert.deepEqual(
      Array.from(manifest.entries, ({ dataFile }) => dataFile.firstRowId),
      [3n, undefined, 9n],
    )
  })

  it('delete files have none, even in a manifest that is listed with one', () => {
    const dataFile = { content: 1, firstRowId: 5 }
    const manifest = roundTrip(
      { entries: [{ dataFile }], content: 'deletes', formatVersion: 3 },
      { firstRowId: 100n },
    )
    assert.isUndefined(entryOf(manifest).dataFile.firstRowId)
  })

  it('ids go on over the blocks of a file', () => {
    const entries = Array.from({ length: 9 }, () => ({ dataFile: { recordCount: 3 } }))
    const manifest = roundTrip({ entries, entriesPerBlock: 2 }, { firstRowId: 10n })
    assert.deepEqual(
      Array.from(manifest.entries, ({ dataFile }) => dataFile.firstRowId),
      [10n, 13n, 16n, 19n, 22n, 25n, 28n, 31n, 34n],
    )
  })
})

describe('status of an entry (R4.14)', () => {
  it('B043, B045: deleted entries are not live, existing ones are', () => {
    const manifest = roundTrip({ entries: [EXISTING, DELETED, ADDED].map((status) => ({ status })) })
    assert.deepEqual(
      Array.from(manifest.entries, ({ status, isLive }) => [status, isLive]),
      [
        [EXISTING, true],
        [DELETED, false],
        [ADDED, true],
      ],
    )
    assert.deepEqual(
      Array.from(manifest.liveEntries(), ({ status }) => status),
      [EXISTING, ADDED],
    )
    assert.deepEqual(Array.from(manifest.batch.liveRows), [0, 2])
  })

  it('B043: in delete manifests too', () => {
    const dataFile = { content: 1 }
    const manifest = roundTrip({ entries: [{ status: DELETED, dataFile }, { dataFile }], content: 'deletes' })
    assert.equal(Array.from(manifest.liveEntries()).length, 1)
  })

  for (const status of [3, 4, 63, 64, -1])
    it(`${status} is refused`, () => {
      const error = thrown(() => roundTrip({ entries: [{}, { status }] }))
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
      assert.equal(error.entry, 1)
      assert.include(error.message, MANIFEST_PATH)
    })
})

describe('inheritance does not look at the header', () => {
  it("R4.7: the spec id is the list's, whatever the manifest says", () => {
    const manifest = roundTrip({ entries: [{}], partitionSpecId: 5 }, { partitionSpecId: 2 })
    assert.equal(entryOf(manifest).dataFile.specId, 2)
    assert.equal(manifest.partitionSpecId, 2)
  })

  it("R4.17: the kind is the list's, whatever the manifest says", () => {
    const manifest = roundTrip(
      { entries: [{ dataFile: { content: 2, equalityIds: [1] } }], content: 'data' },
      { content: ManifestContent.DELETES },
    )
    assert.isTrue(entryOf(manifest).dataFile.isEqualityDelete)
    assert.equal(manifest.content, ManifestContent.DELETES)
  })

  it('a manifest listed without anything to inherit from', () => {
    const row = manifestFile({ addedSnapshotId: undefined })
    assert.isUndefined(row.addedSnapshotId)
    assert.lengthOf(roundTrip({ entries: [] }, { addedSnapshotId: undefined }).entries, 0)
  })
})
