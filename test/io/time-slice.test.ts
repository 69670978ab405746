import { assert } from 'chai'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import { TimeShare, TimeSlice } from '../../src/io/time-slice.ts'
import { dataManifests, loadBuilt, tableOf } from '../planner/planning.ts'

/** Uses a slice up; gives how long it was. */
function useUp(slice: TimeSlice): number {
  const start = performance.now()
  while (!slice.isOver);
  return performance.now() - start
}

describe('time slices', () => {
  it('a slice ends, and another begins when the event loop has turned', async () => {
    const slice = new TimeSlice()
    assert.isFalse(slice.isOver)
    useUp(slice)
    assert.isTrue(slice.isOver)
    await slice.turn()
    assert.isFalse(slice.isOver)
  })

  it('who comes second in a turn has a slice of its own', () => {
    const share = new TimeShare()
    const [first, second] = [new TimeSlice(share), new TimeSlice(share)]
    useUp(first)
    assert.isFalse(second.isOver)
  })

  it('a share is the smaller the more there were in the last turn, or are in this one', async () => {
    const share = new TimeShare()
    const whole = share.begin()
    assert.equal(share.begin(), whole / 2)
    assert.equal(share.begin(), whole / 3)
    assert.equal(share.turn, 0)
    await new TimeSlice(share).turn()
    assert.equal(share.turn, 1)
    assert.equal(share.begin(), whole / 3)
    await new TimeSlice(share).turn()
    assert.equal(share.turn, 2)
    assert.equal(share.begin(), whole)
  })

  it('a small plan ends while a huge one of the same planner goes on, without workers too', async () => {
    const tables = [new Array<number>(60).fill(2000), new Array<number>(40).fill(1)]
    const [big, small] = await Promise.all(tables.map((sizes) => loadBuilt(tableOf(dataManifests(...sizes)))))
    await using planner = new ScanPlanner({ workers: 0, cache: 'off' })
    const bigPlan = await planner.plan(big.newScan())
    const batches = bigPlan.batches
    await batches.next()
    const rest = (async () => {
      for await (const batch of batches) assert.isAbove(batch.length, 0)
    })()
    let tasks = 0
    for await (const task of (await planner.plan(small.newScan())).tasks) tasks += task.start + 1
    const { complete, scannedDataManifests } = bigPlan.report
    assert.equal(tasks, 40)
    assert.isFalse(complete, `the huge plan had decoded ${scannedDataManifests} of 60 manifests`)
    await rest
    assert.isTrue(bigPlan.report.complete)
  })
})
