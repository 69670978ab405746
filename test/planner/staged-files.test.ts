/** Files on their way to a worker come out as they went in; the memory between is used again. */
import { assert } from 'chai'
import { stagedFiles, StagingMemory } from '../../src/planner/staged-files.ts'

const MB = 1024 * 1024

/** Files of these sizes, each with bytes of its own. */
const filesOf = (sizes: readonly number[]): Uint8Array[] =>
  sizes.map((size, i) => Uint8Array.from({ length: size }, (_, at) => (at * 7 + i * 31 + 1) % 251))

describe('staged files', () => {
  const rows: [why: string, sizes: number[]][] = [
    ['none', []],
    ['one', [100]],
    ['an empty one', [0]],
    ['empty ones at the ends', [0, 5, 0]],
    ['one that fills its piece', [256 * 1024]],
    ['one byte more', [256 * 1024 + 1]],
    ['large and small', [10, 2 * MB, 20]],
    ['many', Array.from({ length: 96 }, (_, i) => i * 17)],
  ]
  for (const [why, sizes] of rows)
    it(why, () => {
      const files = filesOf(sizes)
      const received = stagedFiles(structuredClone(new StagingMemory(1).stage(files)))
      assert.deepEqual(received.map(String), files.map(String))
    })

  it('files that are views of larger memory', () => {
    const whole = filesOf([300])[0]
    const files = [whole.subarray(10, 20), whole.subarray(15, 200), whole.subarray(0, 0)]
    assert.deepEqual(stagedFiles(new StagingMemory(1).stage(files)).map(String), files.map(String))
  })

  it('memory that is in use is nobody else’s; given back it is used again, by what fits', () => {
    const staging = new StagingMemory(2)
    const [small, large] = [[100], [3 * MB]].map((sizes) => staging.stage(filesOf(sizes)))
    assert.notEqual(small.memory, large.memory)
    for (const staged of [large, small]) staging.giveBack(staged)
    assert.equal(staging.stage(filesOf([2 * MB])).memory, large.memory)
    assert.equal(staging.stage(filesOf([200])).memory, small.memory)
    assert.notEqual(staging.stage(filesOf([200])).memory, small.memory)
  })

  it('no more pieces are kept than there are jobs at once, the largest, and none of more than 32 MiB', () => {
    const staging = new StagingMemory(1)
    const [small, large, huge] = [1, MB, 33 * MB].map((size) => staging.stage([new Uint8Array(size)]))
    for (const staged of [large, small, huge]) staging.giveBack(staged)
    assert.equal(staging.stage([new Uint8Array(1)]).memory, large.memory)
    assert.notEqual(staging.stage([new Uint8Array(33 * MB)]).memory, huge.memory)
  })

  it('and no more than 64 MiB together', () => {
    const staging = new StagingMemory(10)
    const pieces = Array.from({ length: 4 }, () => staging.stage([new Uint8Array(20 * MB)]))
    for (const staged of pieces) staging.giveBack(staged)
    assert.equal(staging.freeBytes, 64 * MB)
  })
})
