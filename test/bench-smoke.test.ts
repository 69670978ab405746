import { assert } from 'chai'
import { GROUPS } from '../bench/corpus.ts'
import { SHAPE_NAMES, tableInMemory } from '../bench/fixtures.ts'
import { measure } from '../bench/measure.ts'

describe('bench: every case runs once on small inputs', () => {
  for (const group of GROUPS) {
    it(group.name, async () => {
      await using prepared = await group.prepare('smoke')
      const results = await measure(prepared.subjects, { rounds: 1, warmUps: 0 })
      const names = results.map(({ name }) => name)
      assert.includeMembers(group.cases, names)
      if (prepared.notes === undefined || prepared.notes.length === 0) assert.sameMembers(names, group.cases)
      for (const { name, median, checksum } of results) {
        assert.isTrue(Number.isFinite(median), name)
        assert.isTrue(Number.isFinite(checksum), name)
      }
    })
  }
})

describe('bench: generated tables', () => {
  for (const shape of SHAPE_NAMES) {
    it(`${shape}: the same bytes every time`, () => {
      const table = tableInMemory(shape, 'smoke')
      assert.deepEqual(tableInMemory(shape, 'smoke'), table)
      assert.equal(table.files.size, table.manifestPaths.length + table.deleteManifestPaths.length + 2)
    })
  }
})
