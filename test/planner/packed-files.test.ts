/** Files on their way to a worker come out as they went in: copied, or as views of shared memory. */
import { assert } from 'chai'
import { packFiles, unpackFiles } from '../../src/planner/packed-files.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'

const KB64 = 64 * 1024

/** Files of these sizes, each with bytes of its own. */
const filesOf = (sizes: readonly number[]): Uint8Array[] =>
  sizes.map((size, i) => Uint8Array.from({ length: size }, (_, at) => (at * 7 + i * 31 + 1) % 251))

describe('packed files', () => {
  const rows: [why: string, sizes: number[], shared: number[]][] = [
    ['none', [], []],
    ['a small one', [100], []],
    ['an empty one', [0], []],
    ['the largest that is copied', [KB64], []],
    ['the smallest that is shared', [KB64 + 1], [0]],
    ['empty ones at the ends', [0, 5, 0], []],
    ['a large one between small ones', [10, 2 * KB64, 20], [1]],
    ['large ones first and last', [KB64 + 5, 10, 0, 20, KB64 * 3], [0, 4]],
    ['large ones beside each other', [1, KB64 * 2, KB64 * 2 + 1, 2], [1, 2]],
    ['only large ones', [KB64 * 2, KB64 * 2], [0, 1]],
    ['many', Array.from({ length: 96 }, (_, i) => i * 17), []],
  ]
  for (const [why, sizes, shared] of rows)
    it(why, () => {
      const files = filesOf(sizes)
      const asked: Uint8Array[] = []
      const packed = packFiles(files, (bytes) => {
        asked.push(bytes)
        const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
        copy.set(bytes)
        return copy
      })
      assert.deepEqual([...packed.shared.keys()], shared)
      assert.deepEqual(
        asked,
        shared.map((i) => files[i]),
        'nothing else is put into shared memory',
      )
      const small = sizes.filter((_, i) => !shared.includes(i))
      assert.equal(
        packed.copied.byteLength,
        small.reduce((sum, size) => sum + size, 0),
      )
      // As to a worker: the copies are moved, shared memory is not.
      const sent = structuredClone(packed, { transfer: [packed.copied] })
      assert.equal(packed.copied.byteLength, 0)
      for (const i of shared) assert.equal(sent.shared.get(i)!.length, sizes[i])
      const received = unpackFiles(sent)
      assert.deepEqual(
        received.map((bytes) => Array.from(bytes)),
        files.map((bytes) => Array.from(bytes)),
      )
    })

  it('files that are views of larger memory', () => {
    const whole = filesOf([300])[0]
    const files = [whole.subarray(10, 20), whole.subarray(15, 200), whole.subarray(0, 0)]
    const received = unpackFiles(packFiles(files, (bytes) => bytes))
    assert.deepEqual(
      received,
      files.map((bytes) => bytes.slice()),
    )
  })

  it('the files stay as they are, and are packed again for another worker', () => {
    const files = filesOf([10, KB64 * 2, 30])
    const before = files.map((bytes) => bytes.slice())
    const cache = new ManifestCache()
    for (let time = 0; time < 2; time++) {
      const packed = packFiles(files, (bytes) => cache.share(bytes))
      assert.deepEqual(unpackFiles(structuredClone(packed, { transfer: [packed.copied] })), before)
    }
    assert.deepEqual(files, before)
  })
})
