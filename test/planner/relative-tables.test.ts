/** Format version 4: relative locations, in every place where metadata names a file (format-reference 1.7). */
import { assert } from 'chai'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rebase } from '../../src/io/rebase.ts'
import { loadTable, type LoadTableOptions } from '../../src/planner/load-table.ts'
import { rejection } from '../support/rejection.ts'
import { buildTable, type EntryInput, type FormatVersion } from '../support/table-writer.ts'
import { allOf, freshPlanner, namesOf, SCHEMA } from './planning.ts'

interface RelativeInput {
  /** Where the table lies. */
  place?: string
  /** What the metadata says about that; null: nothing. */
  location?: string | null
  data?: readonly string[]
  /** Data files with a deletion vector each, as the vector names them. */
  vectors?: readonly string[]
  /** Data files with a position delete each, as the delete names them. */
  positions?: readonly string[]
}

const ROOT = 's3://b/db/t'

/** A table whose metadata, list and manifests name all files relatively, unless told otherwise. */
function relativeTable(input: RelativeInput = {}): MemoryFileIO {
  const { place = ROOT, location = place, data = ['data/0', 'data/1'], vectors = [], positions = [] } = input
  const deletes: EntryInput[] = [
    ...vectors.map((referencedDataFile, i) => ({
      dataFile: {
        content: 1,
        filePath: `data/v${i}`,
        fileFormat: 'PUFFIN',
        referencedDataFile,
        contentOffset: 4,
        contentSizeInBytes: 10,
      },
    })),
    ...positions.map((referencedDataFile, i) => ({
      dataFile: { content: 1, filePath: `data/p${i}`, referencedDataFile },
    })),
  ]
  const dataManifest = {
    path: 'metadata/m0.avro',
    entries: data.map((filePath) => ({ dataFile: { filePath } })),
  }
  const built = buildTable({
    // Manifests of version 4 are still those of version 3.
    formatVersion: 3,
    location: place,
    schema: SCHEMA,
    snapshots: [
      {
        manifests: [
          dataManifest,
          ...(deletes.length === 0
            ? []
            : [{ path: 'metadata/m1.avro', content: 'deletes' as const, entries: deletes }]),
        ],
      },
    ],
  })
  return rewritten(built.files, place, (json) => {
    json['format-version'] = 4
    if (location === null) delete json['location']
    else json['location'] = location
    const [snapshot] = json['snapshots'] as Record<string, unknown>[]
    snapshot['manifest-list'] = (snapshot['manifest-list'] as string).slice(place.length + 1)
  })
}

function rewritten(
  files: Map<string, Uint8Array>,
  place: string,
  change: (json: Record<string, unknown>) => void,
): MemoryFileIO {
  return new MemoryFileIO(
    Array.from(files, ([location, bytes]) => {
      const at = location.includes(':') ? location : `${place}/${location}`
      if (!location.endsWith('.json')) return [at, bytes]
      // Ids beyond 2^53 become texts on the way, and bare again.
      const text = Buffer.from(bytes).toString('utf8')
      const json = JSON.parse(text.replace(/: (\d{16,})/g, ': "#$1"')) as Record<string, unknown>
      change(json)
      return [at, Buffer.from(JSON.stringify(json).replace(/"#(\d+)"/g, '$1'))]
    }),
  )
}

async function planned(io: MemoryFileIO, location = ROOT, options: LoadTableOptions = {}) {
  const table = await loadTable(location, { io, allowV4: true, ...options })
  const plan = await freshPlanner().plan(table.newScan())
  const tasks = await allOf(plan.tasks)
  return { tasks, warnings: plan.report.warnings }
}

describe('relative locations of format version 4', () => {
  it('manifest list, manifests and data files; what is stored stays as it is', async () => {
    const { tasks, warnings } = await planned(relativeTable())
    assert.deepEqual(
      tasks.map((task) => [task.dataFile.filePath, task.location]),
      [
        ['data/0', `${ROOT}/data/0`],
        ['data/1', `${ROOT}/data/1`],
      ],
    )
    assert.deepEqual(warnings, [])
  })

  it('absolute ones among them are opened as they are', async () => {
    const { tasks } = await planned(relativeTable({ data: ['data/0', 's3://other/x'] }))
    assert.deepEqual(
      tasks.map(({ location }) => location),
      [`${ROOT}/data/0`, 's3://other/x'],
    )
  })

  it('needs allowV4', async () => {
    const io = relativeTable()
    assert.equal((await rejection(loadTable(ROOT, { io }))).code, 'ERR_UNSUPPORTED')
  })

  for (const formatVersion of [1, 2, 3] as const satisfies FormatVersion[])
    it(`version ${formatVersion} resolves nothing: a path without a scheme is a local one`, async () => {
      const built = buildTable({
        formatVersion,
        location: ROOT,
        schema: SCHEMA,
        snapshots: [{ manifests: [{ entries: [{ dataFile: { filePath: 'data/0' } }] }] }],
      })
      const { tasks } = await planned(new MemoryFileIO(built.files))
      assert.equal(tasks[0].location, 'data/0')
    })

  describe('the root folder', () => {
    const slashed = `${ROOT}/`
    const rows: [why: string, input: RelativeInput, from: string, options: LoadTableOptions, want: string][] =
      [
        ['the metadata says it', {}, `${ROOT}/metadata`, {}, `${ROOT}/data/0`],
        ['the place that it is loaded from, else', { location: null }, ROOT, {}, `${ROOT}/data/0`],
        ['given with a slash', { location: null }, slashed, {}, `${ROOT}/data/0`],
        ['given as the metadata folder', { location: null }, `${slashed}metadata/`, {}, `${ROOT}/data/0`],
        [
          'the caller knows it',
          { location: null },
          `${ROOT}/metadata`,
          { tableLocation: 's3://old/t', rebase: [rebase('s3://old/t', ROOT)] },
          `${ROOT}/data/0`,
        ],
        [
          'moved: a rebase comes after resolving',
          { location: 's3://old/t' },
          ROOT,
          { rebase: [rebase('s3://old/', 's3://b/db/')] },
          `${ROOT}/data/0`,
        ],
        [
          'the place where it was before it moved',
          { location: null },
          's3://b/t',
          { rebase: [rebase('s3://b/', 's3://b/db/')] },
          `${ROOT}/data/0`,
        ],
      ]
    for (const [why, input, from, options, want] of rows)
      it(`${why}: ${from}`, async () => {
        const { tasks } = await planned(relativeTable(input), from, options)
        assert.equal(tasks[0].location, want)
      })

    it('a metadata file says where its table is, too', async () => {
      const io = relativeTable({ location: null })
      const metadata = [...io.files.keys()].find((name) => name.endsWith('.json'))!
      assert.equal((await planned(io, metadata)).tasks[0].location, `${ROOT}/data/0`)
    })

    it('with a slash at its end in the metadata keeps it: nothing is normalised', async () => {
      const { tasks } = await planned(relativeTable({ place: `${ROOT}/`, location: `${ROOT}/` }), `${ROOT}//`)
      assert.equal(tasks[0].location, `${ROOT}//data/0`)
    })
  })

  describe('two texts that resolve to one are one file', () => {
    const named: [data: string, referenced: string, why: string][] = [
      ['data/0', 'data/0', 'both relative'],
      ['data/0', `${ROOT}/data/0`, 'the delete absolute'],
      [`${ROOT}/data/0`, 'data/0', 'the data file absolute'],
      ['/data/0', `${ROOT}//data/0`, 'a leading slash'],
    ]
    for (const kind of ['vectors', 'positions'] as const)
      for (const [data, referenced, why] of named)
        it(`${kind} of ${data} by ${referenced}: ${why}`, async () => {
          const { tasks } = await planned(relativeTable({ data: ['data/9', data], [kind]: [referenced] }))
          assert.deepEqual(tasks.map(namesOf), [
            ['data/9'],
            [data, kind === 'vectors' ? 'data/v0@4' : 'data/p0'],
          ])
        })

    it('and two that do not are not', async () => {
      const { tasks } = await planned(
        relativeTable({ data: ['/data/0', 'data/1'], positions: ['data/0', `${ROOT}/x/../data/1`] }),
      )
      assert.deepEqual(tasks.map(namesOf), [['/data/0'], ['data/1']])
    })

    it('two deletion vectors of a file under two names are an error (R7.7)', async () => {
      const io = relativeTable({ vectors: ['data/0', `${ROOT}/data/0`] })
      assert.equal((await rejection(planned(io))).code, 'ERR_INVALID_METADATA')
    })
  })
})
