/** Which entries a filter leaves: their partition first, then their metrics (R4.20 to R4.23). */
import { assert } from 'chai'
import { equal, not, notNull, alwaysFalse, alwaysTrue } from '../../src/expressions/builders.ts'
import { type Filter, toExpression } from '../../src/expressions/to-expression.ts'
import type { EntryBatch } from '../../src/manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../../src/manifest/entry-batch-builder.ts'
import { FULL_PROJECTION } from '../../src/manifest/entry-fields.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { tablePartitionTypes } from '../../src/manifest/manifest-reader.ts'
import { partitionType } from '../../src/manifest/partition-key.ts'
import { createPartitionSpec, type PartitionSpec } from '../../src/metadata/partition-spec.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { EntryFilter } from '../../src/planner/entry-filter.ts'
import { ScanFilter } from '../../src/planner/scan-filter.ts'
import {
  type EntryInput,
  type ManifestInput,
  type ManifestOptions,
  type PartitionFieldInput,
  singleValueBytes,
  writeManifest,
} from '../support/table-writer.ts'
import { manifestFile } from '../manifest/manifest-reading.ts'
import { pathsOf, planBuilt, SCHEMA, tableOf } from './planning.ts'

const schema = parseSchema({ type: 'struct', 'schema-id': 0, ...SCHEMA })

const REGION: PartitionFieldInput = { fieldId: 1000, name: 'region', avroType: 'string', sourceId: 2 }
const ID: PartitionFieldInput = { fieldId: 1001, name: 'id', avroType: 'long', sourceId: 1 }
const FIELDS: readonly (readonly PartitionFieldInput[])[] = [[REGION], [REGION], [REGION, ID], []]

const specs: ReadonlyMap<number, PartitionSpec> = new Map(
  FIELDS.map((fields, specId) => [
    specId,
    createPartitionSpec(
      specId,
      fields.map(({ fieldId, name, sourceId }) => ({
        fieldId,
        name,
        sourceId: sourceId!,
        transform: { kind: 'identity' },
      })),
    ),
  ]),
)
const types = new Map([...specs].map(([specId, spec]) => [specId, partitionType(spec, schema)]))

interface Part {
  specId?: number
  entries: readonly EntryInput[]
  write?: Partial<ManifestOptions>
}

function batchOf(parts: readonly Part[], content: 'data' | 'deletes' = 'data'): EntryBatch {
  const builder = new EntryBatchBuilder(FULL_PROJECTION, new ManifestCache(), tablePartitionTypes(types))
  for (const { specId = 0, entries, write } of parts)
    builder.add(
      writeManifest({ entries, content, partition: FIELDS[specId], partitionSpecId: specId, ...write }),
      manifestFile({ partitionSpecId: specId, content: content === 'data' ? 0 : 1 }),
      'm',
    )
  return builder.finish()
}

function filterOf(filter: Filter, of: 'data' | 'deletes' = 'data'): EntryFilter {
  const bound = new ScanFilter(toExpression(filter), { snapshot: undefined, schema, specs })
  const manifests = [...specs.keys()].map((partitionSpecId) => manifestFile({ partitionSpecId }))
  return new EntryFilter(bound.entryFilter(of, manifests)!)
}

const select = (batch: EntryBatch, filter: Filter, of: 'data' | 'deletes' = 'data'): number[] =>
  Array.from(filterOf(filter, of).select(batch))

const inRegion = (region: string | null, more: EntryInput['dataFile'] = {}, status = 1): EntryInput => ({
  status,
  dataFile: { partition: [region], ...more },
})
const long = (value: number) => singleValueBytes('long', value)
/** Metrics of a file with these ids only. */
const ids = (from: number, to: number) => ({ lowerBounds: { 1: long(from) }, upperBounds: { 1: long(to) } })

describe('entry filter', () => {
  const FOUR: Part = { entries: ['eu', 'us', null, 'eu'].map((region) => inRegion(region)) }
  const rows: [why: string, parts: readonly Part[], filter: Filter, selected: number[]][] = [
    ['R4.21: by the tuple', [FOUR], "region = 'eu'", [0, 3]],
    ['nulls', [FOUR], 'region IS NULL', [2]],
    ['R11.22a: null is not eu', [FOUR], "region <> 'eu'", [1, 2]],
    ['R4.21: null is not below anything', [FOUR], "region < 'zz'", [0, 1, 3]],
    ['a column that is in no spec', [FOUR], 'amount > 5', [0, 1, 2, 3]],
    ['none', [FOUR], "region = 'asia'", []],
    ['a filter that nothing satisfies', [FOUR], alwaysFalse(), []],
    [
      'only live rows',
      [{ entries: [2, 0, 1, 2].map((status) => inRegion('eu', {}, status)) }],
      "region = 'eu'",
      [1, 2],
    ],
    [
      'R4.22: then the metrics',
      [{ entries: [ids(1, 4), ids(5, 9), ids(1, 9), {}].map((metrics) => inRegion('eu', metrics)) }],
      "region = 'eu' AND id >= 5",
      [1, 2, 3],
    ],
    [
      'each may be enough',
      [{ entries: [inRegion('us', ids(5, 9)), inRegion('eu', ids(1, 4)), inRegion('eu', ids(5, 9))] }],
      "region = 'eu' AND id >= 5",
      [2],
    ],
    [
      'metrics of the partition column itself',
      [{ specId: 3, entries: [{ dataFile: { lowerBounds: { 2: Buffer.from('x') } } }, {}] }],
      "region = 'eu'",
      [1],
    ],
    [
      'R5.1: no rows, no match; a number of rows that is not known',
      [{ entries: [0, -1, 1].map((recordCount) => inRegion('eu', { recordCount, ...ids(1, 4) })) }],
      'id > 4',
      [1],
    ],
    [
      'several specs: the same tuple bytes under each',
      [FOUR, { specId: 1, entries: FOUR.entries }, { specId: 3, entries: [{}, {}] }],
      "region = 'us'",
      [1, 5, 8, 9],
    ],
    [
      'a spec of two fields between others',
      [
        FOUR,
        {
          specId: 2,
          entries: [
            ['eu', 1n],
            ['eu', 2n],
            ['us', 1n],
            [null, null],
          ].map((partition) => ({ dataFile: { partition } })),
        },
        { entries: [inRegion('eu')] },
      ],
      "region = 'eu' AND id = 1",
      [0, 3, 4, 8],
    ],
    ['an empty manifest between', [FOUR, { entries: [] }, FOUR], "region = 'us'", [1, 5]],
    ['nothing at all', [], "region = 'us'", []],
  ]
  for (const [why, parts, filter, selected] of rows)
    it(why, () => {
      assert.deepEqual(select(batchOf(parts), filter), selected)
    })

  describe('B074: a manifest that lacks a partition field', () => {
    const lacking = (...omit: number[]): Part => ({
      entries: [inRegion('eu'), inRegion('us')],
      write: { omit },
    })
    const nulls: Part = { entries: [inRegion(null)] }
    const two = (omit: number[]): Part => ({
      specId: 2,
      entries: [
        ['eu', 1n],
        ['us', 1n],
      ].map((partition) => ({ dataFile: { partition } })),
      write: { omit },
    })
    const lackingRows: [why: string, parts: readonly Part[], filter: Filter, selected: number[]][] = [
      ['what is not known rules nothing out', [lacking(1000)], "region = 'eu'", [0, 1]],
      ['not even as null', [lacking(1000)], 'region IS NOT NULL', [0, 1]],
      ['nor as a value', [lacking(1000)], 'region IS NULL', [0, 1]],
      [
        'true nulls before and after it are ruled out',
        [nulls, lacking(1000), nulls],
        "region = 'eu'",
        [1, 2],
      ],
      ['and true nulls stay where they match', [nulls, lacking(1000), nulls], "region <> 'eu'", [0, 1, 2, 3]],
      ['between two of them', [lacking(1000), nulls, lacking(1000)], "region = 'eu'", [0, 1, 3, 4]],
      ['the fields that are there count', [two([1001])], "region = 'eu' AND id = 1", [0]],
      ['also the second', [two([1000])], "region = 'asia' AND id = 2", []],
      ['and OR needs both', [two([1001])], "region = 'eu' OR id = 2", [0, 1]],
      [
        'lacking one, beside one that lacks none and has the same tuple',
        [two([]), two([1001]), two([])],
        "region = 'us' AND id = 2",
        [3],
      ],
    ]
    for (const [why, parts, filter, selected] of lackingRows)
      it(why, () => {
        assert.deepEqual(select(batchOf(parts), filter), selected)
      })

    it('metrics count all the same', () => {
      const entries = [inRegion('eu', ids(1, 4)), inRegion('eu', ids(5, 9))]
      assert.deepEqual(
        select(batchOf([{ entries, write: { omit: [1000] } }]), "region = 'us' AND id = 7"),
        [1],
      )
    })
  })

  it('a tuple is judged once, however many files have it', () => {
    const regions = ['eu', 'us', null]
    const entries = Array.from({ length: 300 }, (_, i) => inRegion(regions[i % 3]))
    const batch = batchOf([{ entries }, { entries }])
    const keys = batch.partitionKeys
    let asked = 0
    const at = (index: number) => {
      asked++
      return keys.at(index)
    }
    Object.defineProperty(batch, 'partitionKeys', { value: { count: keys.count, at } })
    assert.lengthOf(select(batch, "region = 'eu'"), 200)
    assert.equal(asked, 3)
  })

  it('a filter that no partition field helps does not look at tuples', () => {
    const batch = batchOf([FOUR])
    Object.defineProperty(batch, 'partitionKeys', {
      value: {
        count: 3,
        at: () => assert.fail('a tuple was looked at'),
      },
    })
    assert.lengthOf(select(batch, 'amount = 5'), 4)
  })

  describe('R7.4: of delete files', () => {
    const equality = (dataFile: EntryInput['dataFile']): EntryInput => ({
      dataFile: { content: 2, equalityIds: [1], partition: [], ...dataFile },
    })
    const region = (value: string) => ({
      lowerBounds: { 2: Buffer.from(value) },
      upperBounds: { 2: Buffer.from(value) },
    })
    const deleteRows: [why: string, entry: EntryInput, filter: Filter, isKept: boolean][] = [
      ['keys that cannot match', equality(ids(1, 4)), 'id = 9', false],
      ['keys that may', equality(ids(1, 10)), 'id = 9', true],
      ['keys without metrics', equality({}), 'id = 9', true],
      ['columns that are no keys are not believed', equality(region('us')), "region = 'eu'", true],
      [
        'keys count beside them',
        equality({ ...region('eu'), ...ids(1, 4) }),
        "region = 'eu' AND id = 9",
        false,
      ],
      [
        'and OR needs keys on both sides',
        equality({ ...region('us'), ...ids(1, 4) }),
        "region = 'eu' OR id = 9",
        true,
      ],
      ['the second of two keys', equality({ equalityIds: [1, 2], ...region('us') }), "region = 'eu'", false],
      [
        'counts of nulls, of a key',
        equality({ equalityIds: [2], nullValueCounts: { 2: 0 } }),
        'region IS NULL',
        false,
      ],
      ['counts of nulls, of another column', equality({ nullValueCounts: { 2: 0 } }), 'region IS NULL', true],
      [
        'counts of values',
        equality({ equalityIds: [2], valueCounts: { 2: 1 }, nullValueCounts: { 2: 1 } }),
        "region = 'eu'",
        false,
      ],
      ['no rows', equality({ recordCount: 0 }), 'id = 9', false],
      ['a number of rows that is not known', equality({ recordCount: -1, ...ids(1, 4) }), 'id = 9', true],
      ['position deletes have no keys', { dataFile: { content: 1, ...ids(1, 4) } }, 'id = 9', true],
      ['not even with ids', { dataFile: { content: 1, equalityIds: [1], ...ids(1, 4) } }, 'id = 9', true],
      ['position deletes without rows', { dataFile: { content: 1, recordCount: 0 } }, 'id = 9', false],
      [
        'a deletion vector',
        { dataFile: { content: 1, fileFormat: 'puffin', referencedDataFile: 'd', ...ids(1, 4) } },
        'id = 9',
        true,
      ],
      [
        'equality deletes without ids are for the index to refuse',
        { dataFile: { content: 2, ...ids(1, 4) } },
        'id = 9',
        true,
      ],
    ]
    for (const [why, entry, filter, isKept] of deleteRows)
      it(`${isKept ? 'kept' : 'dropped'}: ${why}`, () => {
        const batch = batchOf([{ specId: 3, entries: [entry] }], 'deletes')
        assert.deepEqual(select(batch, filter, 'deletes'), isKept ? [0] : [])
      })

    it('R7.3: and by their partition', () => {
      const batch = batchOf(
        [{ entries: ['eu', 'us'].map((region) => inRegion(region, { content: 1 })) }],
        'deletes',
      )
      assert.deepEqual(select(batch, "region = 'us'", 'deletes'), [1])
    })
  })
})

describe('entries of a filtered plan', () => {
  const REGIONS = { fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] }
  const planned = (manifest: ManifestInput, filter: Filter | undefined, formatVersion: 2 | 3 = 2) =>
    planBuilt(tableOf([manifest], { specs: [REGIONS], formatVersion }), { filter })

  it('R4.8, R4.20: row ids are counted before anything is filtered', async () => {
    const file = (filePath: string, region: string, recordCount: number, more = {}, status = 1): EntryInput =>
      inRegion(region, { filePath, recordCount, ...more }, status)
    const manifest: ManifestInput = {
      entries: [
        file('deleted', 'eu', 50, {}, 2),
        file('us-1', 'us', 10),
        file('own', 'eu', 7, { firstRowId: 7 }),
        file('eu-1', 'eu', 20, ids(1, 4)),
        file('empty', 'eu', 0),
        file('eu-2', 'eu', 5, ids(5, 9)),
        file('us-2', 'us', 3),
        file('eu-3', 'eu', 1),
      ],
      row: { firstRowId: 100 },
    }
    const idsOf = async (filter?: Filter) =>
      (await planned(manifest, filter, 3)).tasks.map(({ dataFile }) => [
        dataFile.filePath,
        dataFile.firstRowId,
      ])
    const all = await idsOf()
    assert.deepEqual(all, [
      ['us-1', 100n],
      ['own', 7n],
      ['eu-1', 110n],
      ['empty', 130n],
      ['eu-2', 130n],
      ['us-2', 135n],
      ['eu-3', 138n],
    ])
    assert.deepEqual(await idsOf("region = 'us'"), [all[0], all[5]])
    assert.deepEqual(await idsOf("region = 'eu' AND id > 4"), [all[1], all[4], all[6]])
  })

  describe('R4.23, trap 26: files without rows', () => {
    const manifest: ManifestInput = {
      entries: [0, 5, -1].map((recordCount) =>
        inRegion('eu', { filePath: `${recordCount} rows`, recordCount }),
      ),
    }
    const rows: [why: string, filter: Filter | undefined, isKept: boolean][] = [
      ['no filter', undefined, true],
      ['true', alwaysTrue(), true],
      ['true, as text', 'true', true],
      ['true, as JSON', true, true],
      ['not false', not(alwaysFalse()), true],
      ['not false, deeper', { op: 'not', child: { op: 'not', child: { op: 'true' } } }, true],
      ['a required column is not null', notNull('id'), false],
      ['R11.10: a number beyond the type', 'id < 9223372036854775808', false],
      ['a filter', equal('id', 5), false],
    ]
    for (const [why, filter, isKept] of rows)
      it(`${isKept ? 'kept' : 'dropped'}: ${why}`, async () => {
        const { plan, tasks } = await planned(manifest, filter)
        assert.deepEqual(pathsOf(tasks), [...(isKept ? ['0 rows'] : []), '5 rows', '-1 rows'])
        assert.equal(plan.report.skippedDataFiles, isKept ? 0 : 1)
        assert.equal(plan.report.skippedDataManifests, 0)
      })
  })

  it('counts: live entries that were ruled out, and no others', async () => {
    const entries = [
      ...[2, 2].map((status) => inRegion('us', {}, status)),
      inRegion('us'),
      inRegion('eu', ids(1, 4)),
      inRegion('eu', { fileSizeInBytes: 77, ...ids(5, 9) }),
    ]
    const { plan } = await planned({ entries }, "region = 'eu' AND id = 7")
    const { report } = plan
    assert.equal(report.skippedDataFiles, 2)
    assert.equal(report.resultDataFiles, 1)
    assert.equal(report.totalFileSizeInBytes, 77)
    assert.equal(report.scannedDataManifests, 1)
    assert.equal(report.skippedDataManifests, 0)
  })

  it('a manifest of which nothing is left is scanned, and makes no batch', async () => {
    const built = tableOf([{ entries: [inRegion('asia'), inRegion('us')] }], { specs: [REGIONS] })
    const { plan, tasks } = await planBuilt(built, { filter: "region = 'eu'" })
    assert.isEmpty(tasks)
    assert.equal(plan.report.scannedDataManifests, 1)
    assert.equal(plan.report.skippedDataFiles, 2)
    assert.isTrue(plan.report.complete)
  })
})
