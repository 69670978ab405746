import { assert } from 'chai'
import type { EntryBatch } from '../../src/manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../../src/manifest/entry-batch-builder.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { ManifestContent } from '../../src/manifest/manifest-file.ts'
import { tablePartitionTypes } from '../../src/manifest/manifest-reader.ts'
import { createPartitionSpec } from '../../src/metadata/partition-spec.ts'
import { DeleteFileIndex } from '../../src/planner/delete-file-index.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import { Warnings } from '../../src/planner/warnings.ts'
import { manifestFile } from '../manifest/manifest-reading.ts'
import { rejection } from '../support/rejection.ts'
import { type EntryInput, writeManifest } from '../support/table-writer.ts'
import { data, dv, eq, type FileCase, MANIFEST_SEQUENCE, planCase, pos, SPEC } from './delete-cases.ts'

/** One data file, its deletes, and which of them apply, in order; or what the error says. */
type Row = [why: string, file: FileCase, deletes: readonly FileCase[], want: readonly string[] | RegExp]

function check(rows: readonly Row[], options: ScanOptions = {}): void {
  for (const [why, file, deletes, want] of rows)
    it(why, async () => {
      const planned = planCase([file], deletes, options)
      if (want instanceof RegExp) {
        const error = await rejection(planned)
        assert.equal(error.code, 'ERR_INVALID_METADATA')
        assert.match(error.message, want)
        assert.isString(error.location)
      } else assert.deepEqual((await planned).tasks, [[file.name, ...want]])
    })
}

const { NONE, REGION, REGION_AGAIN, VOID, AMOUNT, ID, TWO, NONE_AGAIN } = SPEC
const inA = { spec: REGION, partition: ['a'] }
const inB = { spec: REGION, partition: ['b'] }

describe('delete file index', () => {
  describe('the examples a to k and o of 7.4', () => {
    check([
      ['a: an equality delete of the same number does not apply', data('d', inA), [eq('e', 5, inA)], []],
      ['b: one of a higher number does', data('d', inA), [eq('e', 6, inA)], ['e']],
      ['c: a position delete of the same number applies', data('d', inA), [pos('p', 5, inA)], ['p']],
      ['d: one of a lower number does not', data('d', inA), [pos('p', 4, inA)], []],
      ['e: an unpartitioned equality delete is global', data('d', inA), [eq('e', 9)], ['e']],
      ['f: an unpartitioned position delete is not', data('d', inA), [pos('p', 9)], []],
      [
        'g: the same tuple under another spec is another partition',
        data('d', inA),
        [eq('e', 9, { spec: REGION_AGAIN, partition: ['a'] })],
        [],
      ],
      [
        'h: a deletion vector takes the place of position deletes, not of equality deletes',
        data('d', inA),
        [dv('v', 7, 'd', inA), pos('p', 6, inA), eq('e', 8, inA)],
        ['e', 'v@4'],
      ],
      [
        'i: a deletion vector older than its data file is an error',
        data('d'),
        [dv('v', 4, 'd')],
        /v has the sequence number 4, which is below the data file's 5/,
      ],
      [
        'j: a path-scoped delete of another partition is an error',
        data('d', inA),
        [pos('p', 6, { ...inB, about: 'd' })],
        /another partition/,
      ],
      ['k: unless its number rules it out', data('d', inA), [pos('p', 4, { ...inB, about: 'd' })], []],
      [
        'o: the data sequence number counts, not the file sequence number',
        data('d', { seq: 3, fileSeq: 10 }),
        [eq('e', 5)],
        ['e'],
      ],
    ])
  })

  describe('trap 27: which sequence rule, and what is global', () => {
    check([
      ['equality, same number: no', data('d', inA), [eq('e', 5, inA)], []],
      ['position, same number: yes', data('d', inA), [pos('p', 5, inA)], ['p']],
      ['equality 6 from an unpartitioned spec: yes', data('d', inA), [eq('e', 6)], ['e']],
      ['position 6 from an unpartitioned spec: no', data('d', inA), [pos('p', 6)], []],
    ])
  })

  describe('trap 28: deletion vectors', () => {
    check([
      [
        'later position deletes do not come back beside one (R7.26)',
        data('d'),
        [dv('v', 7, 'd'), pos('p', 9, { about: 'd' }), eq('e', 8)],
        ['e', 'v@4'],
      ],
      [
        'two for one path',
        data('d'),
        [dv('v', 7, 'd'), dv('w', 8, 'd')],
        /data file d has two deletion vectors, in v at byte 4 and in w at byte 4/,
      ],
      ['number 4 for data of number 5', data('d'), [dv('v', 4, 'd')], /sequence number 4/],
    ])

    it('two in one Puffin file for different data files are both kept (R7.25)', async () => {
      const { tasks } = await planCase(
        [data('d1'), data('d2')],
        [dv('v', 7, 'd1', { at: 4 }), dv('v', 7, 'd2', { at: 44 })],
      )
      assert.deepEqual(tasks, [
        ['d1', 'v@4'],
        ['d2', 'v@44'],
      ])
    })
  })

  describe('R7.2: numbers of deletes', () => {
    check([['a delete of number 0 is ignored', data('d', { seq: 0 }), [pos('p', 0), pos('q', 1)], ['q']]])

    it('with a warning, and is not counted', async () => {
      const { report } = await planCase([data('d')], [pos('p', 0), eq('e', 0), dv('v', 0, 'd')])
      assert.equal(report.indexedDeleteFiles, 0)
      assert.lengthOf(report.warnings, 3)
      assert.match(report.warnings[0], /Delete file p has the sequence number 0 and is ignored/)
    })
  })

  describe('R7.7, R7.8: what a position delete is about', () => {
    const long = 's3://warehouse/db/table/data/a-path-that-is-longer-than-any-truncation'
    check([
      ['referenced_data_file', data('d'), [pos('p', 6, { about: 'd' })], ['p']],
      ['referenced_data_file of another file', data('d'), [pos('p', 6, { about: 'x' })], []],
      ['equal path bounds', data('d'), [pos('p', 6, { lower: 'd', upper: 'd' })], ['p']],
      ['equal path bounds of another file', data('d'), [pos('p', 6, { lower: 'x', upper: 'x' })], []],
      [
        'referenced_data_file wins over bounds',
        data('d'),
        [
          pos('p', 6, { about: 'x', lower: 'd', upper: 'd' }),
          pos('q', 6, { about: 'd', lower: 'x', upper: 'x' }),
        ],
        ['q'],
      ],
      [
        'unequal bounds: of the partition, whether or not they enclose the path',
        data('d'),
        [pos('p', 6, { lower: 'c', upper: 'e' }), pos('q', 6, { lower: 'x', upper: 'y' })],
        ['p', 'q'],
      ],
      ['only a lower bound: of the partition', data('d'), [pos('p', 6, { lower: 'x' })], ['p']],
      ['only an upper bound: of the partition', data('d'), [pos('p', 6, { upper: 'x' })], ['p']],
      ['no bounds: of the partition', data('d'), [pos('p', 6)], ['p']],
      [
        'truncated bounds, the upper one incremented as it must be: of the partition',
        data(long),
        [pos('p', 6, { lower: long.slice(0, 16), upper: `${long.slice(0, 15)}/` })],
        ['p'],
      ],
      [
        'both truncated to the same prefix: as Java, about a file of that name',
        data(long),
        [pos('p', 6, { lower: long.slice(0, 16), upper: long.slice(0, 16) })],
        [],
      ],
      [
        'paths are compared as they are written',
        data('s3://b/t/a%20b.parquet'),
        [
          pos('p1', 6, { about: 's3a://b/t/a%20b.parquet' }),
          pos('p2', 6, { about: 's3://b/t/a b.parquet' }),
          pos('p3', 6, { about: 's3://b//t/a%20b.parquet' }),
          pos('p4', 6, { about: 's3://b/t/A%20B.parquet' }),
          pos('p5', 6, { about: 's3://b/t/a%20b.parquet' }),
        ],
        ['p5'],
      ],
      [
        'the bounds of a deletion vector say nothing',
        data('d'),
        [dv('v', 6, null)],
        /without referenced_data_file/,
      ],
      [
        'puffin in lower case is a deletion vector too',
        data('d'),
        [dv('v', 6, 'd', { format: 'puffin' }), pos('p', 6)],
        ['v@4'],
      ],
    ])
  })

  describe('R7.9: which tuples are one partition', () => {
    const promoted = (avroType: string) => ({
      write: { partition: [{ fieldId: 1000, name: 'id', avroType }] },
    })
    check([
      [
        'null equals null (B130)',
        data('d', { spec: REGION, partition: [null] }),
        [eq('e', 6, { spec: REGION, partition: [null] }), pos('p', 6, { spec: REGION, partition: [null] })],
        ['e', 'p'],
      ],
      [
        'null is not the empty string',
        data('d', { spec: REGION, partition: [null] }),
        [pos('p', 6, { spec: REGION, partition: [''] })],
        [],
      ],
      [
        'NaN equals NaN',
        data('d', { spec: AMOUNT, partition: [NaN] }),
        [pos('p', 6, { spec: AMOUNT, partition: [NaN] })],
        ['p'],
      ],
      [
        '-0.0 is not 0.0',
        data('d', { spec: AMOUNT, partition: [0] }),
        [pos('p', 6, { spec: AMOUNT, partition: [-0] }), pos('q', 6, { spec: AMOUNT, partition: [0] })],
        ['q'],
      ],
      [
        'an int equals the long it was promoted to',
        data('d', { spec: ID, partition: [7n], manifest: promoted('long') }),
        [pos('p', 6, { spec: ID, partition: [7], manifest: promoted('int') })],
        ['p'],
      ],
      [
        'every field counts, nulls included',
        data('d', { spec: TWO, partition: ['a', null] }),
        [
          pos('p', 6, { spec: TWO, partition: ['a', 1n] }),
          pos('q', 6, { spec: TWO, partition: [null, null] }),
          pos('r', 6, { spec: TWO, partition: ['a', null] }),
        ],
        ['r'],
      ],
      [
        'a void field takes part in the tuple',
        data('d', { spec: VOID, partition: [null] }),
        [pos('p', 6, { spec: VOID, partition: ['a'] }), pos('q', 6, { spec: VOID, partition: [null] })],
        ['q'],
      ],
      [
        'another spec id is another partition (B128)',
        data('d', inA),
        [
          pos('p', 6, { spec: REGION_AGAIN, partition: ['a'] }),
          eq('e', 6, { spec: REGION_AGAIN, partition: ['a'] }),
        ],
        [],
      ],
    ])
  })

  describe('R7.10: order inside a list', () => {
    check([
      [
        'by number, whatever the order in the manifests; equal numbers as they come',
        data('d'),
        [pos('p9', 9), pos('p7', 7), pos('p8', 8), pos('p7b', 7), pos('p9b', 9), pos('p6', 6)],
        ['p6', 'p7', 'p7b', 'p8', 'p9', 'p9b'],
      ],
      [
        'over several manifests: their order in the list',
        data('d'),
        [pos('p2', 7, { manifest: {} }), pos('p1', 6, { manifest: {} }), pos('p3', 7, { manifest: {} })],
        ['p1', 'p2', 'p3'],
      ],
      [
        'the same for equality deletes and for deletes of one file',
        data('d'),
        [eq('e8', 8), eq('e7', 7), pos('p8', 8, { about: 'd' }), pos('p7', 7, { about: 'd' }), eq('e8b', 8)],
        ['e7', 'e8', 'e8b', 'p7', 'p8'],
      ],
    ])
  })

  describe('R7.11: order of the kinds', () => {
    const all = [
      pos('path', 6, { ...inA, about: 'd' }),
      pos('partition', 9, inA),
      eq('equality', 6, inA),
      eq('global', 9),
    ]
    check([
      [
        'global equality, partition equality, partition position, path position',
        data('d', inA),
        all,
        ['global', 'equality', 'partition', 'path'],
      ],
      [
        'a deletion vector stands where the position deletes would',
        data('d', inA),
        [dv('v', 6, 'd', inA), ...all],
        ['global', 'equality', 'v@4'],
      ],
    ])
  })

  describe('R7.12, R7.13: the sequence rules at the border, by kind', () => {
    const seqs = [4, 5, 6]
    const each = (make: (seq: number) => FileCase) => seqs.map(make)
    check([
      ['equality of the partition: above', data('d', inA), each((seq) => eq(`e${seq}`, seq, inA)), ['e6']],
      ['global equality: above', data('d', inA), each((seq) => eq(`e${seq}`, seq)), ['e6']],
      [
        'position of the partition: from',
        data('d', inA),
        each((seq) => pos(`p${seq}`, seq, inA)),
        ['p5', 'p6'],
      ],
      [
        'position of the file: from',
        data('d', inA),
        each((seq) => pos(`p${seq}`, seq, { ...inA, about: 'd' })),
        ['p5', 'p6'],
      ],
    ])

    it('numbers beyond 2^53 are exact', async () => {
      const big = 2n ** 60n
      const numbers = { row: { sequenceNumber: big + 5n } }
      const file: FileCase = { ...data('d'), manifest: numbers }
      const plain = (make: FileCase, sequenceNumber: bigint): FileCase => ({
        ...make,
        entry: { ...make.entry, sequenceNumber },
        manifest: numbers,
      })
      const { tasks } = await planCase(
        [plain(file, big + 1n)],
        [plain(eq('e', 1), big + 1n), plain(pos('p', 1), big), plain(pos('q', 1), big + 1n)],
      )
      assert.deepEqual(tasks, [['d', 'q']])
    })
  })

  describe('R7.14: deletion vectors', () => {
    check([
      ['of the same number', data('d'), [dv('v', 5, 'd')], ['v@4']],
      [
        'takes the place of all position deletes, whatever their numbers (B132)',
        data('d'),
        [pos('p', 6), pos('q', 99, { about: 'd' }), dv('v', 5, 'd')],
        ['v@4'],
      ],
      [
        'leaves equality deletes to their own rule',
        data('d'),
        [dv('v', 9, 'd'), eq('e5', 5), eq('e6', 6)],
        ['e6', 'v@4'],
      ],
      [
        'of another partition (B135)',
        data('d', inA),
        [dv('v', 6, 'd', inB)],
        /delete file v names it but is of spec 1 and another partition/,
      ],
      [
        'of another spec (B135)',
        data('d', inA),
        [dv('v', 6, 'd', { spec: REGION_AGAIN, partition: ['a'] })],
        /is of spec 2/,
      ],
      ['of an unpartitioned spec (B135)', data('d', inA), [dv('v', 6, 'd')], /is of spec 0/],
      [
        'position deletes of another partition that it takes the place of are not looked at',
        data('d', inA),
        [dv('v', 6, 'd', inA), pos('p', 7, { ...inB, about: 'd' })],
        ['v@4'],
      ],
    ])
  })

  describe('R7.15: a path-scoped delete of another partition (B135)', () => {
    check([
      [
        'its number applies: an error',
        data('d', inA),
        [pos('p', 5, { ...inB, about: 'd' })],
        /delete file p names it/,
      ],
      [
        'by equal bounds too',
        data('d', inA),
        [pos('p', 5, { ...inB, lower: 'd', upper: 'd' })],
        /delete file p names it/,
      ],
      [
        'of another spec with the same tuple',
        data('d', inA),
        [pos('p', 5, { spec: REGION_AGAIN, partition: ['a'], about: 'd' })],
        /is of spec 2/,
      ],
      [
        'of another unpartitioned spec',
        data('d'),
        [pos('p', 5, { spec: NONE_AGAIN, about: 'd' })],
        /is of spec 7/,
      ],
      ['its number does not apply: nothing', data('d', inA), [pos('p', 4, { ...inB, about: 'd' })], []],
      [
        'one of several',
        data('d', inA),
        [pos('p', 5, { ...inA, about: 'd' }), pos('q', 6, { ...inB, about: 'd' })],
        /delete file q names it/,
      ],
    ])

    it('the error names the data file and the manifest', async () => {
      const error = await rejection(
        planCase([data('c', inA), data('d', inA)], [pos('p', 5, { ...inB, about: 'd' })]),
      )
      assert.match(error.message, /^Cannot plan d \(in s3:.*-m0\.avro\): delete file p/)
      assert.match(error.location!, /-m0\.avro$/)
    })
  })

  describe('R7.17: deletes are assigned to the whole data file', () => {
    it('a task covers the file and has them all', async () => {
      const file = data('d', { size: 5_000_000 })
      const { tasks, report } = await planCase([file], [pos('p', 6), eq('e', 6)])
      assert.deepEqual(tasks, [['d', 'e', 'p']])
      assert.equal(report.resultDeleteFiles, 2)
    })
  })

  describe('R7.19: equality deletes without ids', () => {
    check([
      ['null', data('d'), [eq('e', 6, { ids: null })], /Cannot plan e .*without equality ids/],
      ['empty', data('d'), [eq('e', 6, { ids: [] })], /without equality ids/],
      [
        'even if no data file is concerned',
        data('d', inA),
        [eq('e', 6, { ...inB, ids: [] })],
        /without equality ids/,
      ],
    ])
  })

  describe('R7.20: global deletes', () => {
    const anySpec: [string, FileCase][] = [
      ['its own spec', data('d', { spec: NONE })],
      ['another unpartitioned spec', data('d', { spec: NONE_AGAIN })],
      ['a partitioned spec', data('d', inA)],
      ['the null partition', data('d', { spec: REGION, partition: [null] })],
      ['an all-void spec', data('d', { spec: VOID, partition: [null] })],
    ]
    for (const spec of [NONE, NONE_AGAIN, VOID])
      describe(spec === VOID ? 'a spec of nothing but void fields' : `spec ${spec}, without fields`, () => {
        const partition = spec === VOID ? [null] : []
        check(
          anySpec.map(([of, file]) => [
            `equality deletes reach data of ${of}`,
            file,
            [eq('e', 6, { spec, partition })],
            ['e'],
          ]),
        )
        check(
          anySpec.map(([of, file]): Row => [
            `position deletes reach data of ${of} only if it is theirs`,
            file,
            [pos('p', 6, { spec, partition })],
            file.specId === spec ? ['p'] : [],
          ]),
        )
      })
    check([
      [
        'B128: global ones only from the next number on, and tuples only under their spec',
        data('d', { ...inA, seq: 5 }),
        [eq('e5', 5), eq('e6', 6), eq('other', 6, { spec: REGION_AGAIN, partition: ['a'] })],
        ['e6'],
      ],
    ])
  })

  describe('R7.21: partition-scoped deletes of another spec are not matched', () => {
    check([
      ['equality', data('d', inA), [eq('e', 9, { spec: TWO, partition: ['a', 1n] })], []],
      ['position', data('d', inA), [pos('p', 9, { spec: REGION_AGAIN, partition: ['a'] })], []],
    ])
  })

  describe('R7.22: what is counted', () => {
    it('one of each, and sums over tasks', async () => {
      const { report } = await planCase(
        [data('d1', { size: 10 }), data('d2', { size: 20 })],
        [
          eq('e1', 6, { size: 100 }),
          eq('e2', 6, { size: 200 }),
          pos('p', 6, { about: 'd1', size: 3000 }),
          pos('gone', 6, { size: 7, status: 2 }),
          dv('v', 6, 'd2', { size: 50_000, blob: 40 }),
          dv('dangling', 6, 'd3'),
        ],
      )
      const { indexedDeleteFiles, equalityDeleteFiles, positionalDeleteFiles, dvs } = report
      assert.deepEqual([indexedDeleteFiles, equalityDeleteFiles, positionalDeleteFiles, dvs], [5, 2, 1, 2])
      assert.equal(report.resultDeleteFiles, 6)
      assert.equal(report.totalFileSizeInBytes, 30)
      assert.equal(report.totalDeleteFileSizeInBytes, 300 + 3000 + 300 + 40)
    })
  })

  describe('R7.23: an empty index', () => {
    check([
      ['does not look at the data file', data('d', { seq: null }), [], []],
      ['is empty too when all deletes are gone', data('d', { seq: null }), [pos('p', 6, { status: 2 })], []],
    ])
  })

  describe('R7.25: several deletion vectors in one Puffin file (B139)', () => {
    it('three, each with its own range', async () => {
      const files = ['d1', 'd2', 'd3'].map((name) => data(name))
      const vectors = files.map(({ name }, i) => dv('all.puffin', 6, name, { at: 4 + 40 * i }))
      const { tasks, report } = await planCase(files, vectors)
      assert.deepEqual(tasks, [
        ['d1', 'all.puffin@4'],
        ['d2', 'all.puffin@44'],
        ['d3', 'all.puffin@84'],
      ])
      assert.equal(report.dvs, 3)
    })
  })

  describe('R7.27: deletes that match nothing', () => {
    check([
      [
        'are left alone',
        data('d', inA),
        [pos('p', 9, inB), pos('q', 9, { about: 'x' }), dv('v', 9, 'y')],
        [],
      ],
      [
        'two deletion vectors for one missing file are still an error',
        data('d'),
        [dv('v', 9, 'y'), dv('w', 9, 'y')],
        /data file y has two deletion vectors/,
      ],
      [
        'even the same vector listed twice',
        data('d'),
        [dv('v', 9, 'y'), dv('v', 9, 'y')],
        /two deletion vectors/,
      ],
    ])
  })

  describe('B220: ranges of deletion vectors', () => {
    const row = (why: string, scope: Parameters<typeof dv>[3], want: RegExp | string[]): Row => [
      why,
      data('d'),
      [dv('v', 6, 'd', scope)],
      want,
    ]
    check([
      row('offset -1', { at: -1 }, /40 bytes at byte -1 of a file of 1000/),
      row('size 0', { blob: 0 }, /0 bytes at byte 4/),
      row('size -1', { blob: -1 }, /-1 bytes/),
      row('size beyond the file', { blob: 1000 }, /1000 bytes at byte 4 of a file of 1000/),
      row('size 2^31', { blob: 2 ** 31 }, /2147483648 bytes/),
      row('offset beyond the file', { at: 2000 }, /at byte 2000/),
      row('no offset', { at: null }, /without referenced_data_file, content_offset or content_size_in_bytes/),
      row('no size', { blob: null }, /without referenced_data_file, content_offset or/),
      row('up to the last byte', { at: 960 }, ['v@960']),
    ])
  })

  describe('trap 10: a compacted file keeps the data sequence number of its inputs', () => {
    check([
      [
        'number 3, file number null, manifest 100: the delete of number 5 applies',
        data('d', { seq: 3 }),
        [eq('e', 5)],
        ['e'],
      ],
    ])
  })

  describe('R4.2: data sequence numbers that are missing after inheritance', () => {
    const absent = { write: { omit: [3, 4] } }
    const lost = (why: string, deletes: FileCase[], want: string[] | RegExp): Row => [
      why,
      data('d', { ...inA, seq: null }),
      deletes,
      want,
    ]
    const missing = /Cannot plan d .*it has no sequence number, and a delete file in its scope depends on it/

    describe('on a live data entry: an error as soon as a delete depends on it', () => {
      check([
        lost('global equality', [eq('e', 6)], missing),
        lost('equality in its partition', [eq('e', 6, inA)], missing),
        lost('position in its partition', [pos('p', 6, inA)], missing),
        lost('position of the file', [pos('p', 6, { ...inA, about: 'd' })], missing),
        lost('deletion vector', [dv('v', 6, 'd', inA)], missing),
        lost(
          'none: it is planned',
          [eq('e', 6, inB), pos('p', 6), pos('q', 6, { ...inA, about: 'x' }), dv('v', 6, 'x', inA)],
          [],
        ),
        [
          'B029: the same where the columns are absent',
          data('d', { seq: null, manifest: absent }),
          [pos('p', 6)],
          missing,
        ],
        ['B029: absent, and nothing depends on it', data('d', { seq: null, manifest: absent }), [], []],
        [
          'B029: absent on an ADDED entry: inherited',
          data('d', { seq: null, status: 1, manifest: absent }),
          [pos('p', MANIFEST_SEQUENCE), pos('q', MANIFEST_SEQUENCE - 1)],
          ['p'],
        ],
        [
          'B029: absent in a manifest of number 0: 0',
          data('d', { seq: null, manifest: { ...absent, sequenceNumber: 0 } }),
          [pos('p', 1)],
          ['p'],
        ],
      ])

      it('planned with a warning, whether there are other deletes or none', async () => {
        for (const deletes of [[], [pos('p', 6, inB)]]) {
          const { report } = await planCase([data('d', { ...inA, seq: null }), data('c', inA)], deletes)
          assert.deepEqual(report.warnings, [
            'Data file d has no sequence number; no delete file depends on it.',
          ])
        }
      })
    })

    describe('lenient: 0 is taken, so everything in scope applies', () => {
      check(
        [
          lost('position and equality', [pos('p', 1, inA), eq('e', 1, inA)], ['e', 'p']),
          lost('deletion vector', [dv('v', 1, 'd', inA)], ['v@4']),
          lost('none', [pos('p', 1, inB)], []),
          lost('but not for a delete', [pos('p', null, inA)], /Cannot plan p .*it has no sequence number/),
        ],
        { lenient: true },
      )

      it('with a warning', async () => {
        const { report } = await planCase([data('d', { seq: null })], [pos('p', 6)], { lenient: true })
        assert.deepEqual(report.warnings, ['Data file d has no sequence number; 0 is taken.'])
      })
    })

    describe('on a live delete entry: an error, never "does not apply" (B041)', () => {
      const unknown = /it has no sequence number, so where it applies is unknown/
      check([
        ['deletion vector', data('d'), [dv('v', null, 'd')], unknown],
        ['position', data('d'), [pos('p', null)], unknown],
        ['equality', data('d'), [eq('e', null)], unknown],
        ['even where it concerns nothing', data('d', inA), [pos('p', null, inB)], unknown],
        ['columns absent', data('d'), [pos('p', null, { manifest: absent })], unknown],
      ])
    })

    describe("trap 9: an EXISTING entry does not inherit the manifest's number", () => {
      check([
        [
          'manifest 7: stays null',
          data('d', { seq: null, manifest: { sequenceNumber: 7 } }),
          [pos('p', 8)],
          missing,
        ],
        [
          'manifest 0: becomes 0',
          data('d', { seq: null, manifest: { sequenceNumber: 0 } }),
          [pos('p', 1)],
          ['p'],
        ],
      ])
    })

    describe('on a DELETED entry: never an error', () => {
      check([
        [
          'of a delete manifest',
          data('d'),
          [pos('gone', null, { status: 2 }), pos('p', 6), dv('v', null, null, { status: 2, at: null })],
          ['p'],
        ],
      ])

      it('of a data manifest', async () => {
        const files = [data('gone', { seq: null, status: 2 }), data('d')]
        assert.deepEqual((await planCase(files, [pos('p', 6)])).tasks, [['d', 'p']])
      })
    })
  })

  describe('comparisons', () => {
    const COUNTS = [1, 1000, 100_000]
    const spec = createPartitionSpec(0, [])
    const lookup = tablePartitionTypes(new Map([[0, { spec, specId: 0, fields: [] }]]))
    const batchOf = (entries: Iterable<EntryInput>, content: 'data' | 'deletes'): EntryBatch => {
      const builder = new EntryBatchBuilder(
        { groups: ['layout', 'deletes'], columnStats: 'none' },
        ManifestCache.disabled(),
        lookup,
      )
      const bytes = writeManifest({ entries, content, codec: 'null', formatVersion: 3 })
      const row = content === 'data' ? ManifestContent.DATA : ManifestContent.DELETES
      builder.add(bytes, manifestFile({ content: row, sequenceNumber: 1_000_000n }), 'm')
      return builder.finish()
    }
    function* deletesOf(count: number, file: EntryInput['dataFile']): Generator<EntryInput> {
      // Not in order, so that they have to be sorted.
      for (let i = 0; i < count; i++)
        yield { sequenceNumber: ((i * 7919) % count) + 1, dataFile: { filePath: 'p', ...file } }
    }

    it('a batch of very many different answers, some with deletion vectors, and totals', async () => {
      const count = 300
      function* deletes(): Generator<EntryInput> {
        for (let i = 1; i <= count; i++)
          yield { sequenceNumber: i, dataFile: { filePath: `p${i}`, content: 1, fileSizeInBytes: 1000 } }
        for (const i of [100, 200])
          yield {
            sequenceNumber: 1000,
            dataFile: {
              filePath: 'dv',
              fileFormat: 'puffin',
              content: 1,
              fileSizeInBytes: 50,
              referencedDataFile: `d${i}`,
              contentOffset: 4,
              contentSizeInBytes: 7,
            },
          }
      }
      const index = await DeleteFileIndex.build([batchOf(deletes(), 'deletes')], { warnings: new Warnings() })
      const rows = Array.from({ length: count }, (_, i) => i + 1)
      const data = batchOf(
        rows.map((i) => ({ sequenceNumber: i, dataFile: { filePath: `d${i}` } })),
        'data',
      )
      const assigned = await index.assign(data)
      const hasVector = (i: number): boolean => i === 100 || i === 200
      const counts = rows.map((i) => (hasVector(i) ? 1 : count - i + 1))
      const sizes = rows.map((i, at) => (hasVector(i) ? 7 : 1000 * counts[at]))
      const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b)
      for (const [at, i] of rows.entries()) {
        assert.deepEqual(
          assigned.filesAt(at).map(({ filePath }) => filePath),
          hasVector(i) ? ['dv'] : rows.slice(at).map((n) => `p${n}`),
        )
      }
      assert.deepEqual(
        rows.map((_, at) => assigned.countAt(at)),
        counts,
      )
      assert.deepEqual(
        rows.map((_, at) => assigned.sizeAt(at)),
        sizes,
      )
      assert.deepEqual([assigned.count, assigned.sizeInBytes], [sum(counts), sum(sizes)])
    })

    it('files that follow each other share their deletes if these are the same, whatever their sequence numbers', async () => {
      const index = await DeleteFileIndex.build([batchOf(deletesOf(50, { content: 1 }), 'deletes')], {
        warnings: new Warnings(),
      })
      const rows = [1, 1, 0, 1, 0, 50, 1].map((sequenceNumber) => ({ sequenceNumber, dataFile: {} }))
      const assigned = await index.assign(batchOf(rows, 'data'))
      const files = rows.map((_, i) => assigned.filesAt(i))
      assert.deepEqual(
        files.map(({ length }) => length),
        [50, 50, 50, 50, 50, 1, 50],
      )
      assert.lengthOf(new Set([0, 1, 2, 3, 4].map((i) => assigned.filesAt(i))), 1)
    })

    const kinds: [name: string, file: EntryInput['dataFile']][] = [
      ['under one path', { content: 1, referencedDataFile: 'd' }],
      ['under one tuple, position', { content: 1 }],
      ['global equality', { content: 2, equalityIds: [1] }],
    ]
    for (const [name, file] of kinds)
      for (const count of COUNTS)
        it(`${count} deletes ${name}: at most 2 + log2 of them per look-up`, async () => {
          const index = await DeleteFileIndex.build([batchOf(deletesOf(count, file), 'deletes')], {
            warnings: new Warnings(),
          })
          const sequences = [1, 2, count >> 1, count - 1, count, count + 1].filter((seq) => seq > 0)
          const most = 2 + Math.log2(count)
          for (const sequenceNumber of sequences) {
            const batch = batchOf([{ sequenceNumber, dataFile: { filePath: 'd' } }], 'data')
            const before = index.work.comparisons
            const assigned = (await index.assign(batch)).countAt(0)
            assert.isAtMost(index.work.comparisons - before, most)
            const first = sequenceNumber + (file?.content === 2 ? 1 : 0)
            assert.equal(assigned, Math.max(0, count - first + 1))
          }
          assert.equal(index.work.lookups, sequences.length)
        })

    for (const count of COUNTS)
      it(`${count} deletes under other paths: 2 comparisons at most`, async () => {
        function* scattered(): Generator<EntryInput> {
          for (let i = 0; i < count; i++)
            yield { sequenceNumber: 9, dataFile: { content: 1, filePath: 'p', referencedDataFile: `d${i}` } }
        }
        const index = await DeleteFileIndex.build([batchOf(scattered(), 'deletes')], {
          warnings: new Warnings(),
        })
        const files: EntryInput[] = ['d0', `d${count - 1}`, 'nowhere'].map((filePath) => ({
          sequenceNumber: 5,
          dataFile: { filePath },
        }))
        const assigned = await index.assign(batchOf(files, 'data'))
        assert.deepEqual(
          [0, 1, 2].map((i) => assigned.countAt(i)),
          [1, 1, 0],
        )
        assert.isAtMost(index.work.comparisons, 2 + 2)
      })
  })
})
