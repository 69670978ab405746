/**
 * Against Iceberg's own REST catalog, where one runs (see .ci/rest-catalog.sh): what Java plans of its tables is what we
 * plan.
 */
import { readFileSync } from 'node:fs'
import { assert } from 'chai'
import { RestCatalog } from '../../src/catalog/rest-catalog.ts'
import { allOf, freshPlanner } from '../planner/planning.ts'
import { rejection } from '../support/rejection.ts'

const { ICEPLAN_REST_CATALOG_URI: uri, ICEPLAN_REST_CATALOG_PLANS: plansFile } = process.env

describe('a real REST catalog', function () {
  before(function () {
    if (uri === undefined || plansFile === undefined) this.skip()
  })
  const catalog = (credential = 'iceplan:any'): RestCatalog => new RestCatalog({ uri: uri!, credential })

  it('is planned as Java plans it, nested namespaces and names with spaces too', async () => {
    type Plan = Record<string, string[]>
    const plans = JSON.parse(readFileSync(plansFile!, 'utf8')) as Record<string, Plan>
    assert.isNotEmpty(plans)
    for (const [name, expected] of Object.entries(plans)) {
      const table = await catalog().loadTable(name)
      const plan = await freshPlanner().plan(table.newScan({ filter: "region = 'emea'" }))
      const found = (await allOf(plan.tasks)).map(({ dataFile, deletes }) => [
        dataFile.filePath,
        deletes.map(({ filePath }) => filePath),
      ])
      assert.deepEqual(Object.fromEntries(found), expected, name)
    }
  })

  it('has not changed when it is asked again', async () => {
    const table = await catalog().loadTable('db.orders')
    const { metadata } = table
    await table.refresh()
    assert.strictEqual(table.metadata, metadata)
  })

  it('lists what it has', async () => {
    assert.deepEqual(await catalog().listTables('lake.deep er'), [
      { namespace: ['lake', 'deep er'], name: 'orders' },
    ])
    assert.deepInclude(await catalog().listNamespaces(), ['db'])
    assert.deepEqual(await catalog().listNamespaces('lake'), [['lake', 'deep er']])
  })

  it('says that there is no such table or namespace, and who may not come', async () => {
    for (const [name, type] of [
      ['db.nothing', 'NoSuchTableException'],
      ['nowhere.orders', 'NoSuchTableException'],
    ]) {
      const error = await rejection(catalog().loadTable(name))
      assert.equal(error.code, 'ERR_NOT_FOUND')
      assert.include(error.message, type)
    }
    const error = await rejection(catalog('somebody:else').loadTable('db.orders'))
    assert.equal(error.code, 'ERR_STORAGE')
    assert.match(error.message, /401/)
  })
})
