/** `includeColumnStats`: which metrics tasks show, whatever the plan itself has read (R10.1 to R10.7). */
import { assert } from 'chai'
import type { ContentFile } from '../../src/manifest/content-file.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import { rejection } from '../support/rejection.ts'
import {
  type DataFileInput,
  type SchemaInput,
  buildTable,
  singleValueBytes,
} from '../support/table-writer.ts'
import { allOf, loadBuilt } from './planning.ts'
import { FILE_PATH_ID } from './delete-cases.ts'

const POSITION_ID = 2147483545

const SCHEMA: SchemaInput = {
  fields: [
    { id: 1, name: 'id', required: true, type: 'long' },
    { id: 2, name: 'region', required: false, type: 'string' },
    { id: 3, name: 'amount', required: false, type: 'double' },
    {
      id: 10,
      name: 'st',
      required: false,
      type: {
        type: 'struct',
        fields: [
          { id: 11, name: 'x', required: false, type: 'int' },
          {
            id: 12,
            name: 'inner',
            required: false,
            type: { type: 'struct', fields: [{ id: 13, name: 'y', required: false, type: 'int' }] },
          },
        ],
      },
    },
  ],
}
const COLUMNS = [1, 2, 3, 11, 13]

/** Metrics of all these columns, in every map. */
function everyMetric(ids: readonly number[]): DataFileInput {
  const counts = Object.fromEntries(ids.map((id) => [id, 10]))
  const bounds = (value: number) => Object.fromEntries(ids.map((id) => [id, singleValueBytes('long', value)]))
  return {
    recordCount: 10,
    columnSizes: counts,
    valueCounts: counts,
    nullValueCounts: Object.fromEntries(ids.map((id) => [id, 0])),
    nanValueCounts: Object.fromEntries(ids.map((id) => [id, 1])),
    lowerBounds: bounds(5),
    upperBounds: bounds(6),
  }
}

const built = buildTable({
  schema: SCHEMA,
  snapshots: [
    {
      sequenceNumber: 2,
      manifests: [
        {
          entries: [1, 2, 3].map((n) => ({
            // Deleted ones between: what is kept of a batch is compacted.
            status: n === 2 ? 2 : 1,
            sequenceNumber: 1,
            dataFile: { filePath: `d${n}`, ...everyMetric(COLUMNS) },
          })),
        },
        {
          content: 'deletes',
          entries: [
            { dataFile: { filePath: 'e', content: 2, equalityIds: [1], ...everyMetric(COLUMNS) } },
            {
              dataFile: {
                filePath: 'p',
                content: 1,
                ...everyMetric([...COLUMNS, POSITION_ID, FILE_PATH_ID]),
              },
            },
          ],
        },
      ],
    },
  ],
})

const MAPS = [
  'columnSizes',
  'valueCounts',
  'nullValueCounts',
  'nanValueCounts',
  'lowerBounds',
  'upperBounds',
] as const
type MapName = (typeof MAPS)[number]

/** Column ids by map; absent without one. */
function shownBy(file: ContentFile): Partial<Record<MapName, number[]>> {
  const json = file.toJSON()
  const shown: Partial<Record<MapName, number[]>> = {}
  for (const name of MAPS) {
    const map = file[name]
    assert.deepEqual(Object.keys(json[name] ?? {}).map(Number), [...(map?.keys() ?? [])], `${name} of toJSON`)
    if (map !== undefined) shown[name] = [...map.keys()].sort((a, b) => a - b)
  }
  return shown
}

const everywhere = (...ids: number[]) => Object.fromEntries(MAPS.map((name) => [name, ids]))
/** Sizes are not read of delete files. */
const ofDeletes = (id: number) =>
  Object.fromEntries(MAPS.filter((name) => name !== 'columnSizes').map((name) => [name, [id]]))

describe('column statistics of tasks', () => {
  const planners = [
    { how: 'in this thread', planner: new ScanPlanner({ workers: 0 }) },
    { how: 'in workers', planner: new ScanPlanner({ workers: 2 }) },
  ]
  after(async () => {
    for (const { planner } of planners) await planner.close()
  })

  const FILTERS = [undefined, "amount <= 3e-323 AND region <> 'x'", 'id >= 5'] as const
  type Include = ScanOptions['includeColumnStats']
  const rows: [why: string, include: Include, caseSensitive: boolean, shown: ReturnType<typeof shownBy>][] = [
    ['R10.1: none by default', undefined, true, {}],
    ['none', false, true, {}],
    ['no names', [], true, {}],
    ['R10.2: all', true, true, everywhere(...COLUMNS)],
    ['R10.2: one', ['region'], true, everywhere(2)],
    ['two, one that the filter and the deletes read', ['id', 'region'], true, everywhere(1, 2)],
    ['named twice', ['region', 'region'], true, everywhere(2)],
    ['a struct, with all that is in it', ['st'], true, everywhere(11, 13)],
    ['a struct in a struct', ['st.inner'], true, everywhere(13)],
    ['a column in a struct', ['st.x'], true, everywhere(11)],
    ['R10.5: without case', ['REGION', 'ST.X'], false, everywhere(2, 11)],
  ]
  for (const { how, planner } of planners)
    for (const [why, includeColumnStats, caseSensitive, shown] of rows)
      it(`${why} (${how})`, async () => {
        const table = await loadBuilt(built)
        for (const filter of FILTERS) {
          const plan = await planner.plan(table.newScan({ filter, includeColumnStats, caseSensitive }))
          const tasks = await allOf(plan.tasks)
          assert.lengthOf(tasks, 2, filter)
          for (const task of tasks)
            for (const { dataFile, deletes } of [task, task.detach()]) {
              assert.deepEqual(shownBy(dataFile), shown, filter)
              assert.deepEqual(shownBy(dataFile.detach()), shown, filter)
              const [equality, position] = deletes
              assert.equal(equality.filePath, 'e')
              assert.deepEqual(shownBy(equality), ofDeletes(1), 'R10.7')
              assert.equal(position.filePath, 'p')
              assert.deepEqual(shownBy(position), ofDeletes(FILE_PATH_ID), 'R10.7')
            }
        }
      })

  const unknown: [include: string[], caseSensitive: boolean, message: RegExp][] = [
    [
      ['regin'],
      true,
      /Cannot include statistics of column "regin" of s3:.*: schema 0 has id, region, amount, st/,
    ],
    [['region', 'REGION'], true, /column "REGION"/],
    [['st.z'], true, /column "st.z"/],
    [['x'], true, /column "x"/],
    [[''], false, /column ""/],
  ]
  for (const [includeColumnStats, caseSensitive, message] of unknown)
    it(`R10.2: refused: ${includeColumnStats.join()}${caseSensitive ? '' : ', without case'}`, async () => {
      const table = await loadBuilt(built)
      const error = await rejection(
        Promise.resolve().then(() => table.newScan({ includeColumnStats, caseSensitive })),
      )
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
      assert.match(error.message, message)
    })

  it('names are those of the schema that the scan reads', async () => {
    const renamed: SchemaInput = {
      fields: SCHEMA.fields.map((field) => (field.id === 2 ? { ...field, name: 'area' } : field)),
    }
    const table = await loadBuilt(
      buildTable({
        schema: [SCHEMA, renamed],
        snapshots: [{ schemaId: 0, manifests: [{ entries: [{ dataFile: everyMetric(COLUMNS) }] }] }],
      }),
    )
    const snapshotId = table.metadata.currentSnapshotId
    for (const options of [
      { includeColumnStats: ['area'] },
      { includeColumnStats: ['region'], snapshotId },
    ]) {
      const plan = await planners[0].planner.plan(table.newScan(options))
      const [task] = await allOf(plan.tasks)
      assert.deepEqual(shownBy(task.dataFile), everywhere(2))
    }
  })
})
