/**
 * icebird as shipped: `node icebird.mjs METADATA_JSON FILTER`. Its own functions read the manifest list and all
 * manifests and part data from deletes. It has no filters for manifests and matches deletes only while it reads rows,
 * so FILTER changes nothing and each task has no deletes. It fetches what it reads; here, from the disk.
 */
import fs from 'node:fs/promises'
import path from 'node:path'
import process from 'node:process'
import { icebergManifests, icebergMetadata } from 'icebird'
import { splitManifestEntries } from 'icebird/src/manifest.js'
import { servePlans } from './protocol.mjs'

globalThis.fetch = async (location) => {
  const bytes = await fs.readFile(location)
  return {
    ok: true,
    json: () => Promise.resolve(JSON.parse(bytes.toString())),
    arrayBuffer: () =>
      Promise.resolve(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)),
  }
}

const metadataLocation = process.argv[2]
const metadata = await icebergMetadata({
  tableUrl: path.resolve(metadataLocation, '../..'),
  metadataFileName: path.basename(metadataLocation),
})
await servePlans(async (onTask) => {
  const { dataEntries } = splitManifestEntries(await icebergManifests(metadata))
  for (const { data_file: file } of dataEntries) onTask(file.file_path, Number(file.record_count), 0)
})
