/** `table.planFiles(filter, options)`: every form of a filter, and what is refused before anything is read. */
import { assert } from 'chai'
import { and, equal, greaterThan } from '../../src/expressions/builders.ts'
import { expressionToJson } from '../../src/expressions/expression-json.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import type { Filter } from '../../src/expressions/to-expression.ts'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import type { Table } from '../../src/planner/table.ts'
import { rejection, thrown } from '../support/rejection.ts'
import { buildTable, singleValueBytes } from '../support/table-writer.ts'
import { allOf, loadBuilt, pathsOf, SCHEMA } from './planning.ts'

const long = (value: number) => singleValueBytes('long', value)
const built = buildTable({
  schema: SCHEMA,
  specs: [{ fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] }],
  snapshots: [
    {
      manifests: [
        {
          entries: [
            ['eu', 1],
            ['eu', 50],
            ['us', 50],
          ].map(([region, id], i) => ({
            dataFile: {
              filePath: `d${i}`,
              partition: [region],
              lowerBounds: { 1: long(id as number) },
              upperBounds: { 1: long((id as number) + 5) },
            },
          })),
        },
      ],
    },
  ],
})

describe('table.planFiles', () => {
  let table: Table
  let io: CountingFileIO
  beforeEach(async () => {
    io = new CountingFileIO(new MemoryFileIO(built.files))
    table = await loadBuilt(built, { io })
    io.reset()
  })

  const expression = and(equal('region', 'eu'), greaterThan('id', 10))
  const json = expressionToJson(expression)
  const forms: [form: string, filter: Filter | undefined, paths: string[]][] = [
    ['nothing', undefined, ['d0', 'd1', 'd2']],
    ['text', "region = 'eu' AND id > 10", ['d1']],
    ['an expression', expression, ['d1']],
    ['JSON', json as Filter, ['d1']],
    ['the text of JSON', JSON.stringify(json), ['d1']],
    ['true', true, ['d0', 'd1', 'd2']],
    ['false', false, []],
    ['an expression that is sent as JSON and back', JSON.parse(JSON.stringify(expression)) as Filter, ['d1']],
  ]
  for (const [form, filter, paths] of forms)
    it(`plans with ${form}`, async () => {
      const tasks = await allOf(table.planFiles(filter))
      assert.deepEqual(pathsOf(tasks), paths)
      if (paths.length === 1) assert.equal(formatExpression(tasks[0].residual), 'id > 10')
    })

  it('options come second', async () => {
    const options = { includeColumnStats: ['id'], caseSensitive: false, select: ['ID'] }
    const [task] = await allOf(table.planFiles("REGION = 'eu' AND ID > 10", options))
    assert.equal(task.dataFile.filePath, 'd1')
    assert.deepEqual([...task.dataFile.lowerBounds!.keys()], [1])
    const without = await allOf(table.planFiles(undefined, { snapshotId: built.snapshots[0].snapshotId }))
    assert.lengthOf(without, 3)
  })

  it('nothing is read before the first task is asked for', async () => {
    const tasks = table.planFiles("region = 'eu'")
    assert.equal(io.requests, 0)
    await tasks.next()
    assert.equal(io.requests, 2)
    await tasks.return(undefined)
  })

  const refused: [why: string, filter: unknown, message: RegExp][] = [
    ['options first', { snapshotId: 1n }, /the first argument is the filter, options come second/],
    ['no options', {}, /the first argument is the filter, options come second/],
    ['null', null, /Cannot use filter: null/],
    ['a number', 5, /Cannot use filter: 5/],
    ['a list', [], /filter/],
    ['text that is no filter', 'region = = 5', /Cannot parse filter/],
    ['empty text', '', /Cannot parse filter/],
    ['text that ends too early', "region = 'eu' AND", /Cannot parse filter/],
    ['broken JSON', '{"type": "eq"', /Cannot parse filter as JSON/],
    ['JSON of an unknown type', { type: 'between', term: 'id' }, /between/],
    ['an expression of an unknown operation', { op: 'between', term: { name: 'id' } }, /between/],
    ['an unknown column', 'regio = 5', /regio\b.*region/],
    ['a column in another case', "REGION = 'eu'", /REGION\b.*region/],
    ['a text for a number', "id = 'five'", /id/],
    ['a number for a text', 'region = 5', /region/],
  ]
  for (const [why, filter, message] of refused)
    it(`refuses ${why}`, async () => {
      const error = await rejection(allOf(table.planFiles(filter as Filter)))
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT', error.stack)
      assert.match(error.message, message)
      assert.equal(io.requests, 0, 'nothing is read for it')
    })

  it('a filter that cannot be parsed is refused when the scan is made, one that cannot be bound when it is planned', async () => {
    assert.equal(thrown(() => table.newScan({ filter: 'id = =' })).code, 'ERR_INVALID_ARGUMENT')
    const scan = table.newScan({ filter: 'regio = 5' })
    assert.equal(formatExpression(scan.filter), 'regio = 5')
    assert.equal(thrown(() => scan.with({ filter: 'id = =' })).code, 'ERR_INVALID_ARGUMENT')
    assert.equal((await rejection(allOf(table.planFiles('regio = 5')))).code, 'ERR_INVALID_ARGUMENT')
  })

  it('a filter is bound even where there is nothing to plan', async () => {
    const empty = await loadBuilt(buildTable({ schema: SCHEMA }))
    assert.isEmpty(await allOf(empty.planFiles('id = 5')))
    assert.match((await rejection(allOf(empty.planFiles('x = 5')))).message, /x/)
  })

  it('scans keep their filter until another is given', () => {
    const scan = table.newScan({ filter: 'id = 5' })
    assert.equal(formatExpression(scan.with({ caseSensitive: false }).filter), 'id = 5')
    assert.equal(formatExpression(scan.with({ filter: 'id = 6' }).filter), 'id = 6')
    assert.equal(formatExpression(table.newScan().filter), 'true')
  })
})
