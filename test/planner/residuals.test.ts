/** Residuals of tasks: what is left of the filter for the partition of each (section 6 of the planning rules). */
import { assert } from 'chai'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import { parseFilter } from '../../src/expressions/parse-filter.ts'
import { rewriteNot } from '../../src/expressions/rewrite-not.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import { buildTable, type ManifestInput, type SchemaInput, type SpecInput } from '../support/table-writer.ts'
import { allOf, freshPlanner, loadBuilt, pathsOf, planBuilt, SCHEMA } from './planning.ts'

const spec = (...fields: [sourceId: number, name: string, transform: string][]): SpecInput => ({
  fields: fields.map(([sourceId, name, transform], i) => ({
    sourceId,
    fieldId: 1000 + 10 * sourceId + i,
    name,
    transform,
  })),
})
const SPECS = [
  spec(),
  spec([2, 'region', 'identity']),
  spec([1, 'id_part', 'truncate[10]']),
  spec([2, 'region', 'void']),
  spec([3, 'amount', 'identity']),
  spec([2, 'region', 'identity'], [1, 'id_part', 'truncate[10]']),
]

/** A manifest of one spec, with a file for each tuple. */
const manifest = (
  specId: number,
  tuples: readonly (readonly unknown[])[],
  more: Partial<ManifestInput> = {},
) => ({
  specId,
  entries: tuples.map((partition) => ({
    dataFile: { filePath: `${specId}: ${partition.join()}`, partition },
  })),
  ...more,
})

const tableWith = (manifests: readonly ManifestInput[]) =>
  buildTable({ schema: SCHEMA, specs: SPECS, snapshots: [{ manifests }] })

const residualText = (task: FileScanTask): string => formatExpression(task.residual)
/** As the text is written. */
const same = (filter: string): string => formatExpression(rewriteNot(parseFilter(filter)))

describe('residuals of tasks', () => {
  type Left = Record<string, string>
  const rows: [filter: string, manifest: ManifestInput, left: Left, why: string][] = [
    [
      "region = 'eu' AND id > 5",
      manifest(0, [[]]),
      { '0: ': "region = 'eu' AND id > 5" },
      'R6.2: a spec without fields',
    ],
    [
      "NOT (region = 'eu' OR id > 5)",
      manifest(0, [[]]),
      { '0: ': "region <> 'eu' AND id <= 5" },
      'R11.22: without NOT',
    ],
    ["region = 'eu' AND id > 5", manifest(1, [['eu'], ['us'], [null]]), { '1: eu': 'id > 5' }, 'R6.4'],
    [
      "(region = 'eu' AND id > 5) OR amount > 1",
      manifest(1, [['eu'], ['us'], [null]]),
      { '1: eu': 'id > 5 OR amount > 1', '1: us': 'amount > 1', '1: ': 'amount > 1' },
      'R6.3: constants are simplified away',
    ],
    [
      "region <> 'eu'",
      manifest(1, [['eu'], ['us'], [null]]),
      { '1: us': 'true', '1: ': 'true' },
      'R6.9: null is not eu',
    ],
    ["region < 'f'", manifest(1, [['eu'], ['us'], [null]]), { '1: eu': 'true' }, 'R6.9: null is not below f'],
    ['region IS NULL OR id = 3', manifest(1, [['eu'], [null]]), { '1: eu': 'id = 3', '1: ': 'true' }, 'R6.4'],
    [
      'id >= 15 AND id < 30',
      manifest(2, [[0n], [10n], [20n], [30n], [null]]),
      { '2: 10': 'id >= 15', '2: 20': 'true' },
      'each bound where it decides',
    ],
    [
      "region = 'eu' AND id > 5",
      manifest(3, [[null]]),
      { '3: ': "region = 'eu' AND id > 5" },
      'trap 17: void decides nothing',
    ],
    ['region IS NULL', manifest(3, [[null]]), { '3: ': 'region IS NULL' }, 'trap 17: not even nulls'],
    [
      'amount > 1',
      manifest(4, [[0.5], [1.5], [NaN], [null]]),
      { '4: 1.5': 'true', '4: NaN': 'amount > 1' },
      'R6.10: NaN decides nothing',
    ],
    [
      "region = 'eu' AND id = 15",
      manifest(5, [
        ['eu', 10n],
        ['eu', 20n],
        ['us', 10n],
        ['eu', null],
      ]),
      { '5: eu,10': 'id = 15' },
      'two fields',
    ],
    [
      "region = 'eu' AND id >= 10",
      manifest(
        5,
        [
          ['eu', 10n],
          ['eu', 20n],
        ],
        { write: { omit: [1020] } },
      ),
      { '5: eu,10': "region = 'eu'", '5: eu,20': "region = 'eu'" },
      'B074: of a field that the manifest lacks nothing is known',
    ],
    ['true', manifest(1, [['eu'], [null]]), { '1: eu': 'true', '1: ': 'true' }, 'no filter'],
    ['id IS NOT NULL', manifest(1, [['eu']]), { '1: eu': 'true' }, 'a required column is never null'],
  ]
  for (const [filter, manifest, left, why] of rows)
    it(`${filter}: ${why}`, async () => {
      const { tasks } = await planBuilt(tableWith([manifest]), { filter })
      const residuals = tasks.map((task): [string, string] => [task.dataFile.filePath, residualText(task)])
      const expected = Object.entries(left).map(([path, text]): [string, string] => [path, same(text)])
      assert.deepEqual(residuals, expected)
      // Detached tasks know theirs too, also when the batch has gone on.
      const detached = tasks.map((task) => task.detach())
      assert.deepEqual(
        detached.map(residualText),
        residuals.map(([, text]) => text),
      )
      assert.deepEqual(detached.map((task) => task.detach()).map(residualText), detached.map(residualText))
    })

  it('R6.2: of a spec without fields it is the rewritten filter, not simplified and not bound', async () => {
    const filter = "NOT (region = 'eu' AND NOT id > 5) AND id IS NOT NULL"
    const { tasks } = await planBuilt(tableWith([manifest(0, [[]])]), { filter })
    assert.deepEqual(tasks[0].residual, rewriteNot(parseFilter(filter)))
  })

  it('R6.1: files of one partition in a batch have one and the same', async () => {
    const { tasks } = await planBuilt(tableWith([manifest(1, [['eu'], ['us'], ['eu'], ['us']])]), {
      filter: "(region = 'eu' AND id > 5) OR amount > 1",
    })
    const [eu, us, eu2, us2] = tasks.map((task) => task.residual)
    assert.strictEqual(eu, eu2)
    assert.strictEqual(us, us2)
    assert.notDeepEqual(eu, us)
  })

  it('R3.22: files of several specs in a batch, each by its own', async () => {
    const lacking = manifest(1, [['eu']], { write: { omit: [1020] } })
    const tuples = [[], ['eu'], [20n], [null], [], ['eu', 20n]]
    const ofEach = () => [0, 1, 2, 3, 5].map((specId) => manifest(specId, [tuples[specId]]))
    const filter = "region = 'eu' AND id >= 15"
    const { tasks } = await planBuilt(tableWith([...ofEach(), lacking, ...ofEach()]), { filter })
    const want = [filter, 'id >= 15', "region = 'eu'", filter, 'true']
    assert.deepEqual(tasks.map(residualText), [...want, filter, ...want].map(same))
  })

  it('B074: a true null and a value that is not known have one tuple, and two residuals', async () => {
    const nulls = () => manifest(1, [[null]])
    const lacking = () => manifest(1, [['eu']], { write: { omit: [1020] } })
    const filter = 'region IS NULL OR id = 3'
    // The first manifest is a run of its own; the others share a batch.
    const { tasks } = await planBuilt(tableWith([nulls(), nulls(), lacking(), nulls(), lacking()]), {
      filter,
    })
    assert.deepEqual(tasks.map(residualText), ['true', 'true', filter, 'true', filter].map(same))
  })

  it('R6.14: names are those of the schema that the filter is bound to', async () => {
    const renamed: SchemaInput = {
      fields: SCHEMA.fields.map((field) => (field.id === 2 ? { ...field, name: 'area' } : field)),
    }
    const table = await loadBuilt(
      buildTable({
        schema: [SCHEMA, renamed],
        specs: [spec([1, 'id_part', 'truncate[10]'])],
        snapshots: [{ schemaId: 0, manifests: [manifest(0, [[20n]])] }],
      }),
    )
    const snapshotId = table.metadata.currentSnapshotId
    for (const [filter, options] of [
      ["area = 'eu' AND id > 5", {}],
      ["region = 'eu' AND id > 5", { snapshotId }],
    ] as const) {
      const plan = await freshPlanner().plan(table.newScan({ filter, ...options }))
      const [task] = await allOf(plan.tasks)
      assert.equal(residualText(task), same(filter.replace(' AND id > 5', '')))
    }
  })

  it('names in another case stay as they were written', async () => {
    const { tasks } = await planBuilt(tableWith([manifest(1, [['eu'], ['us']])]), {
      filter: "REGION = 'eu' AND Id > 5",
      caseSensitive: false,
    })
    assert.deepEqual(pathsOf(tasks), ['1: eu'])
    assert.equal(residualText(tasks[0]), same('Id > 5'))
  })
})
