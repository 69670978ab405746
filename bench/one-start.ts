/**
 * A process that does one thing, for the group `start`: nothing; `read METADATA`: reads the table's manifests;
 * `plan METADATA LIBRARY`: plans with the library at that URL. Prints a checksum and the milliseconds that it took.
 */
import fs from 'node:fs'
import path from 'node:path'

type Library = typeof import('../src/index.ts')

const [kind, metadataLocation, library] = process.argv.slice(2)
if (kind === 'read') {
  const start = performance.now()
  const folder = path.dirname(metadataLocation)
  let bytes = 0
  for (const name of fs.readdirSync(folder))
    if (name.endsWith('.avro')) bytes += fs.readFileSync(path.join(folder, name)).length
  console.log(`${bytes} ${performance.now() - start}`)
} else if (kind === 'plan') {
  const { loadTable, ScanPlanner } = (await import(library)) as Library
  const table = await loadTable(metadataLocation)
  const start = performance.now()
  const planner = new ScanPlanner({ workers: 0 })
  let files = 0
  for await (const batch of (await planner.plan(table.newScan())).batches) files += batch.length
  console.log(`${files} ${performance.now() - start}`)
  await planner.close()
}
