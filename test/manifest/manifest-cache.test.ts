/** `ManifestCache`: counts, proof by bytes, bounds, and the bytes of files. */
import { assert } from 'chai'
import { openContainer } from '../../src/avro/container.ts'
import { DEFAULT_MAX_FILE_BYTES, ManifestCache } from '../../src/manifest/manifest-cache.ts'
import type { ListShape } from '../../src/manifest/list-shape.ts'
import { manifestShape } from '../../src/manifest/cached-shapes.ts'
import { readManifestListBytes } from '../../src/manifest/manifest-list.ts'
import { readManifestBytes } from '../../src/manifest/manifest-reader.ts'
import { type ManifestOptions, writeManifest, writeManifestList } from '../support/manifest-writer.ts'
import { entriesOf, manifestFile, MANIFEST_PATH, shapeWith } from './manifest-reading.ts'

const partition = (fieldId: number, name: string) => [{ fieldId, name, avroType: 'int' }]

function headerOf(bytes: Uint8Array): Uint8Array {
  return openContainer(bytes, MANIFEST_PATH).header
}

function read(cache: ManifestCache, options: Partial<ManifestOptions> = {}) {
  return readManifestBytes(writeManifest({ entries: [{}], ...options }), manifestFile(), { cache })
}

/** Different headers: schema, spec, codec, version; one differs from another in one byte only. */
const VARIANTS: Partial<ManifestOptions>[] = [
  {},
  { partition: partition(1000, 'a'), entries: [{ dataFile: { partition: [1] } }] },
  { partition: partition(1000, 'b'), entries: [{ dataFile: { partition: [2] } }] },
  { partition: partition(1001, 'a'), entries: [{ dataFile: { partition: [3] } }] },
  { formatVersion: 1, entries: [{ snapshotId: 5 }] },
  { formatVersion: 3, entries: [{ dataFile: { firstRowId: 8 } }] },
  { codec: 'snappy' },
  { codec: 'null' },
  { partitionSpecId: 1 },
  { partitionSpecId: 2 },
  { shuffleSeed: 1, entries: [{ dataFile: { columnSizes: { 1: 5 } } }] },
  { fieldIds: 'none' },
  { fieldIds: 'strings' },
]

describe('ManifestCache: parsed headers', () => {
  it('500 manifests with one header compile one plan', () => {
    const cache = new ManifestCache()
    for (let i = 0; i < 500; i++) read(cache, { entries: [{ dataFile: { filePath: `f${i}` } }] })
    const { plans, shapes, lists, hits, misses } = cache
    assert.deepEqual(
      { plans, shapes, lists, hits, misses },
      { plans: 1, shapes: 1, lists: 0, hits: 998, misses: 2 },
    )
  })

  it('lists have a count of their own', () => {
    const cache = new ManifestCache()
    const rows = [{ manifestPath: MANIFEST_PATH, manifestLength: 1 }]
    for (let i = 0; i < 5; i++) readManifestListBytes(writeManifestList({ rows }), { cache })
    assert.deepEqual([cache.plans, cache.shapes, cache.lists, cache.hits, cache.misses], [0, 0, 1, 4, 1])
    // Other header keys, the same schema: nothing to compile again.
    readManifestListBytes(writeManifestList({ rows, metadata: { 'snapshot-id': '5' } }), { cache })
    assert.deepEqual([cache.lists, cache.hits], [1, 5])
    readManifestListBytes(writeManifestList({ rows, formatVersion: 1 }), { cache })
    assert.deepEqual([cache.lists, cache.misses], [2, 2])
  })

  it('one shape serves several projections, each with its plan', () => {
    const cache = new ManifestCache()
    const bytes = writeManifest({ entries: [{}] })
    const stats = { groups: ['counts', 'bounds'], columnStats: 'all' } as const
    const projections = [
      { groups: [], columnStats: 'none' } as const,
      stats,
      // Which columns are wanted is no part of the plan.
      { ...stats, columnStats: [1, 2] },
      { ...stats, columnStats: [3] },
      // Groups of statistics without columns are no groups.
      { ...stats, columnStats: 'none' } as const,
      { ...stats, groups: ['bounds', 'counts'] } as const,
    ]
    for (const projection of projections) readManifestBytes(bytes, manifestFile(), { cache, projection })
    assert.deepEqual([cache.shapes, cache.plans], [1, 2])
  })

  it('two specs never share a shape', () => {
    const cache = new ManifestCache()
    for (const { options, specId } of [
      { options: {}, specId: 0 },
      { options: { partitionSpecId: 1 }, specId: 1 },
    ]) {
      const container = openContainer(writeManifest({ entries: [], ...options }), MANIFEST_PATH)
      assert.equal(manifestShape(container, cache).partitionSpecId, specId)
    }
    assert.equal(cache.shapes, 2)
  })

  it('the same schema text with another spec is two shapes and one plan', () => {
    const cache = new ManifestCache()
    const write = (transform: string) => ({
      entries: [{ dataFile: { partition: [7] } }],
      partition: [{ fieldId: 1000, name: 'p', avroType: 'int', transform }],
      schema: {
        type: 'struct',
        'schema-id': 0,
        fields: [{ id: 1, name: 'x', required: false, type: 'int' }],
      },
    })
    const specs = ['identity', 'bucket[4]'].map((transform) => read(cache, write(transform)).partitionSpec)
    assert.deepEqual(
      specs.map(({ fields }) => fields[0].transform.kind),
      ['identity', 'bucket'],
    )
    assert.deepEqual([cache.shapes, cache.plans], [2, 1])
  })

  it('on, off, and with nothing but collisions: the same entries', () => {
    const colliding = new ManifestCache()
    colliding.collideAllHashes()
    const caches = [new ManifestCache(), ManifestCache.disabled(), colliding]
    for (let round = 0; round < 2; round++)
      for (const options of VARIANTS) {
        const [on, off, collided] = caches.map((cache) => entriesOf(read(cache, options)))
        assert.deepEqual(on, off)
        assert.deepEqual(collided, off)
      }
    assert.deepEqual(
      caches.map(({ shapes }) => shapes),
      [VARIANTS.length, 0, VARIANTS.length],
    )
    assert.equal(colliding.misses, caches[0].misses)
    assert.equal(colliding.hits, caches[0].hits)
    assert.equal(caches[1].hits, 0)
    assert.equal(caches[1].misses, 4 * VARIANTS.length)
  })

  it('hashOf is an unsigned 32-bit number that changes with the bytes; all are one after collideAllHashes', () => {
    const cache = new ManifestCache()
    const headers = VARIANTS.map((options) => headerOf(writeManifest({ entries: [], ...options })))
    for (const header of headers) {
      const hash = cache.hashOf(header)
      assert.isTrue(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32)
      assert.equal(cache.hashOf(header.slice()), hash)
    }
    assert.isAbove(new Set(headers.map((header) => cache.hashOf(header))).size, 1)
    assert.notEqual(cache.hashOf(Uint8Array.of(1)), cache.hashOf(Uint8Array.of(2)))
    cache.collideAllHashes()
    assert.equal(new Set(headers.map((header) => cache.hashOf(header))).size, 1)
  })

  it('findShape, addShape, findList, addList', () => {
    const cache = new ManifestCache()
    const header = headerOf(writeManifest({ entries: [] }))
    const shape = shapeWith()
    assert.isUndefined(cache.findShape(header))
    cache.addShape(header, shape)
    assert.strictEqual(cache.findShape(header.slice()), shape)
    assert.isUndefined(cache.findShape(header.subarray(1)))
    assert.isUndefined(cache.findList(header))
    const list = { plan: {} } as ListShape
    cache.addList(header, list)
    assert.strictEqual(cache.findList(header), list)
    assert.strictEqual(cache.findShape(header), shape)
    assert.deepEqual([cache.shapes, cache.lists, cache.hits, cache.misses], [1, 1, 3, 3])
  })

  it('the same header added twice is kept once', () => {
    const cache = new ManifestCache()
    const [first, second] = [shapeWith(), shapeWith()]
    const header = Uint8Array.of(1, 2, 3)
    cache.addShape(header, first)
    cache.addShape(header, second)
    assert.equal(cache.shapes, 1)
    assert.strictEqual(cache.findShape(header), first)
  })

  it('what is added is copied: the file may change or go', () => {
    const cache = new ManifestCache()
    const header = Uint8Array.of(1, 2, 3)
    const shape = shapeWith()
    cache.addShape(header, shape)
    header[0] = 9
    assert.isUndefined(cache.findShape(header))
    assert.strictEqual(cache.findShape(Uint8Array.of(1, 2, 3)), shape)
  })

  it('the number of headers is bounded, the oldest goes first', () => {
    for (const cache of [new ManifestCache(), colliding()]) {
      const header = (i: number) => Buffer.from(`header ${i}`)
      for (let i = 0; i < 1010; i++) cache.addShape(header(i), shapeWith({ 'format-version': String(i) }))
      assert.equal(cache.shapes, 1000)
      assert.isUndefined(cache.findShape(header(9)))
      assert.equal(cache.findShape(header(10))?.formatVersion, 10)
      assert.equal(cache.findShape(header(1009))?.formatVersion, 1009)
    }
    function colliding() {
      const cache = new ManifestCache()
      cache.collideAllHashes()
      return cache
    }
  })

  it('a header of more than 4 MiB is not kept', () => {
    const cache = new ManifestCache()
    const shape = shapeWith()
    cache.addShape(new Uint8Array(4 * 1024 * 1024 + 1), shape)
    assert.equal(cache.shapes, 0)
    cache.addShape(new Uint8Array(4 * 1024 * 1024), shape)
    assert.equal(cache.shapes, 1)
  })

  it('a header that cannot be read is not kept', () => {
    const cache = new ManifestCache()
    for (let i = 0; i < 2; i++) assert.throws(() => read(cache, { fieldIds: 'some' }))
    assert.deepEqual([cache.shapes, cache.plans], [0, 0])
  })

  it('disabled: nothing is kept, look-ups still count', () => {
    const cache = ManifestCache.disabled()
    assert.isFalse(cache.enabled)
    assert.isTrue(new ManifestCache().enabled)
    read(cache)
    read(cache)
    readManifestListBytes(writeManifestList({ rows: [] }), { cache })
    const { plans, shapes, lists, hits, misses } = cache
    assert.deepEqual(
      { plans, shapes, lists, hits, misses },
      { plans: 0, shapes: 0, lists: 0, hits: 0, misses: 5 },
    )
    // Each is its own: what is counted in one does not show in another.
    assert.equal(ManifestCache.disabled().misses, 0)
  })
})

describe('ManifestCache: bytes of files', () => {
  const file = (size: number, byte = 1) => new Uint8Array(size).fill(byte)

  it('keepFile, hasFile, file, fileBytes, fileHits', () => {
    const cache = new ManifestCache()
    assert.equal(cache.maxFileBytes, DEFAULT_MAX_FILE_BYTES)
    assert.equal(DEFAULT_MAX_FILE_BYTES, 64 * 1024 * 1024)
    assert.isFalse(cache.hasFile('a'))
    assert.isUndefined(cache.file('a'))
    cache.keepFile('a', file(10))
    assert.isTrue(cache.hasFile('a'))
    assert.deepEqual(cache.file('a'), file(10))
    assert.deepEqual([cache.fileBytes, cache.fileHits], [10, 1])
    // Files are no look-ups of headers.
    assert.deepEqual([cache.hits, cache.misses], [0, 0])
  })

  it('file gives a copy, lend the bytes themselves', () => {
    const cache = new ManifestCache()
    const bytes = file(4)
    cache.keepFile('a', bytes)
    cache.file('a')!.fill(9)
    assert.deepEqual(cache.file('a'), file(4))
    assert.strictEqual(cache.lend('a'), bytes)
    assert.equal(cache.fileHits, 3)
  })

  it('the file used longest ago goes first; looking whether there is one is no use', () => {
    const cache = new ManifestCache({ maxFileBytes: 30 })
    for (const name of ['a', 'b', 'c']) cache.keepFile(name, file(10))
    cache.file('a')
    cache.giveBack(cache.lend('b')!)
    cache.hasFile('c')
    cache.keepFile('d', file(10))
    assert.deepEqual(kept(cache, 'abcd'), 'abd')
    cache.keepFile('e', file(20))
    assert.deepEqual(kept(cache, 'abcde'), 'de')
    assert.equal(cache.fileBytes, 30)
  })

  it('one file of exactly the budget is kept, a larger one is not and drops nothing', () => {
    const cache = new ManifestCache({ maxFileBytes: 30 })
    assert.equal(cache.maxFileBytes, 30)
    cache.keepFile('a', file(30))
    assert.deepEqual(kept(cache, 'a'), 'a')
    cache.keepFile('b', file(31))
    assert.deepEqual(kept(cache, 'ab'), 'a')
    assert.equal(cache.fileBytes, 30)
  })

  it('a file that is kept again is replaced', () => {
    const cache = new ManifestCache({ maxFileBytes: 30 })
    cache.keepFile('a', file(10, 1))
    cache.keepFile('a', file(20, 2))
    assert.deepEqual([cache.fileBytes, cache.file('a')], [20, file(20, 2)])
    cache.keepFile('a', file(5, 3))
    assert.equal(cache.fileBytes, 5)
    // Too large to keep: then the old bytes must not stay either.
    cache.keepFile('a', file(31, 4))
    assert.isFalse(cache.hasFile('a'))
    assert.equal(cache.fileBytes, 0)
  })

  it('one location in two stores is two files', () => {
    const cache = new ManifestCache()
    cache.keepFile('a', file(1, 1), 's3:one')
    cache.keepFile('a', file(2, 2), 's3:two')
    assert.isTrue(cache.hasFile('a'), 'without a store, any will do')
    assert.isFalse(cache.hasFile('a', 's3:three'))
    assert.deepEqual([cache.file('a', 's3:one'), cache.file('a', 's3:two')], [file(1, 1), file(2, 2)])
    assert.equal(cache.fileBytes, 3)
  })

  it('a budget of 0, and a disabled cache, keep nothing', () => {
    for (const cache of [new ManifestCache({ maxFileBytes: 0 }), ManifestCache.disabled()]) {
      cache.keepFile('a', file(1))
      assert.isFalse(cache.hasFile('a'))
      assert.isUndefined(cache.file('a'))
      assert.deepEqual([cache.fileBytes, cache.fileHits, cache.maxFileBytes], [0, 0, 0])
    }
  })

  it('a budget for files is not one for headers', () => {
    const cache = new ManifestCache({ maxFileBytes: 0 })
    read(cache)
    assert.deepEqual([cache.shapes, cache.plans], [1, 1])
  })
})

function kept(cache: ManifestCache, names: string): string {
  return Array.from(names)
    .filter((name) => cache.hasFile(name))
    .join('')
}

describe('ManifestCache: rows of manifest lists', () => {
  /** Memory that each is said to take. */
  const ROW_BYTES = 600
  const bytesOf = (length: number): Uint8Array => new Uint8Array(length)
  const rowsOf = (count: number) => Array.from({ length: count }, () => manifestFile())

  it('are remembered with the bytes of a kept list, once', () => {
    const cache = new ManifestCache()
    const list = bytesOf(10)
    cache.keepFile('list', list)
    assert.isUndefined(cache.rowsOf(list))
    const rows = rowsOf(2)
    cache.keepRows(list, rows, 2 * ROW_BYTES)
    cache.keepRows(list, rowsOf(3), 3 * ROW_BYTES)
    assert.strictEqual(cache.rowsOf(list), rows)
  })

  it('go with the bytes: replaced, dropped, or never kept', () => {
    const cache = new ManifestCache({ maxFileBytes: 10 + ROW_BYTES })
    const first = bytesOf(6)
    cache.keepFile('first', first)
    cache.keepRows(first, rowsOf(1), 1 * ROW_BYTES)
    assert.isDefined(cache.rowsOf(first))
    const second = bytesOf(6)
    cache.keepFile('second', second)
    assert.isUndefined(cache.rowsOf(first), 'dropped for the budget')
    cache.keepRows(second, rowsOf(1), 1 * ROW_BYTES)
    const again = bytesOf(6)
    cache.keepFile('second', again)
    assert.isUndefined(cache.rowsOf(second), 'replaced')
    const foreign = bytesOf(1)
    cache.keepRows(foreign, rowsOf(1), 1 * ROW_BYTES)
    assert.isUndefined(cache.rowsOf(foreign), 'never kept')
  })

  it('count for the budget of files: what was used longest ago goes first, and lent bytes stay', () => {
    const cache = new ManifestCache({ maxFileBytes: 100 + 100 * ROW_BYTES })
    const lists = [1, 2, 3].map((length) => bytesOf(length))
    for (const [i, list] of lists.entries()) {
      cache.keepFile(`list ${i}`, list)
      cache.keepRows(list, rowsOf(40), 40 * ROW_BYTES)
    }
    assert.deepEqual(
      lists.map((list) => cache.rowsOf(list)?.length),
      [undefined, 40, 40],
    )
    assert.deepEqual([cache.hasFile('list 0'), cache.fileBytes], [false, 5])
    const lent = cache.lend('list 1')!
    const huge = bytesOf(4)
    cache.keepFile('huge', huge)
    cache.keepRows(huge, rowsOf(80), 80 * ROW_BYTES)
    assert.deepEqual([cache.rowsOf(lent)?.length, cache.rowsOf(huge)?.length], [40, 80])
    assert.isFalse(cache.hasFile('list 2'))
    cache.giveBack(lent)
    assert.isFalse(cache.hasFile('list 1'), 'over budget as soon as it is given back')
  })

  it('of more than the whole budget are not remembered, and nothing goes for them', () => {
    const cache = new ManifestCache({ maxFileBytes: 100 + ROW_BYTES })
    const list = bytesOf(4)
    cache.keepFile('other', bytesOf(1))
    cache.keepFile('list', list)
    cache.keepRows(list, rowsOf(2), 2 * ROW_BYTES)
    assert.isUndefined(cache.rowsOf(list))
    assert.isTrue(cache.hasFile('other'))
  })

  it('a disabled cache has none', () => {
    const cache = ManifestCache.disabled()
    const list = bytesOf(1)
    cache.keepFile('list', list)
    cache.keepRows(list, rowsOf(1), 1 * ROW_BYTES)
    assert.isUndefined(cache.rowsOf(list))
  })
})
