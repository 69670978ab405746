/**
 * From the table argument and its options to the table: without `--catalog` the argument is a location, with it a name in
 * the catalog.
 */
import type { Table } from '../index.ts'
import { loadTable, restCatalogFrom } from '../index.ts'
import { UsageError } from './failure.ts'
import { parseRebases } from './rebases.ts'
import type { TableOptions } from './table-options.ts'

/** Secrets do not belong on a command line, where every process can read them. */
const PROPERTY_BY_VARIABLE = { ICEPLAN_TOKEN: 'token', ICEPLAN_CREDENTIAL: 'credential' } as const

/**
 * Rejects as `loadTable` does.
 *
 * @throws UsageError for options that make no sense together
 */
export async function openTable(table: string, options: TableOptions, signal: AbortSignal): Promise<Table> {
  const { catalog, warehouse, requests } = options
  // It comes with every release for a Node.js that a later one will no longer support; users cannot do anything about it.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  const properties = Object.fromEntries(options.property)
  const load = {
    // The last word, also on what a catalog says of the storage.
    storage: { properties },
    rebase: parseRebases(options.rebase),
    ...(requests === undefined ? {} : { requestLimit: requests }),
    signal,
  }
  if (catalog === undefined) {
    if (warehouse !== undefined) throw new UsageError('Cannot use --warehouse without --catalog')
    return loadTable(table, load)
  }
  const secrets = Object.entries(PROPERTY_BY_VARIABLE).flatMap(([variable, name]): [string, string][] => {
    const value = process.env[variable]
    return value === undefined || value === '' ? [] : [[name, value]]
  })
  return loadTable(
    {
      catalog: restCatalogFrom({
        ...Object.fromEntries(secrets),
        ...properties,
        uri: catalog,
        ...(warehouse === undefined ? {} : { warehouse }),
      }),
      identifier: table,
    },
    load,
  )
}
