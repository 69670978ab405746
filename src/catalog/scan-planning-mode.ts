/**
 * Who plans scans of a table: the property `scan-planning-mode`, `client` (the default) or `server`, in any case of
 * letters. A table's own config wins over the catalog's. A table that must be planned by the server is refused: the
 * server may have reasons, such as rows and columns that this user must not see.
 */
import { InvalidMetadataError, UnsupportedFeatureError } from '../errors.ts'
import { valueOf, type Properties } from './rest-options.ts'

const PROPERTY = 'scan-planning-mode'

/**
 * @param purpose how messages begin: "Cannot load table db.t of the catalog https://host"
 * @throws UnsupportedFeatureError if the server must plan, InvalidMetadataError for a mode that nobody knows.
 */
export function checkScanPlanningMode(
  purpose: string,
  config: Properties,
  catalogProperties: Properties,
): void {
  const own = valueOf(config, PROPERTY)
  const mode = own ?? valueOf(catalogProperties, PROPERTY)
  if (mode === undefined || mode.toLowerCase() === 'client') return
  const who = own === undefined ? "the catalog's configuration" : "the table's configuration"
  if (mode.toLowerCase() === 'server')
    throw new UnsupportedFeatureError(
      `${purpose}: ${who} says that the catalog plans its scans (${PROPERTY}=${mode}), which is not supported; ` +
        `use a client that asks the server for its plan, or have the catalog set ${PROPERTY}=client for this table`,
    )
  throw new InvalidMetadataError(
    `${purpose}: ${who} says ${PROPERTY}=${JSON.stringify(mode.slice(0, 80))}, which is neither client nor server`,
  )
}
