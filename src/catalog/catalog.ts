/**
 * A catalog, as the library sees it: something that knows tables by name, and says where the current metadata of
 * each is. What is true of names in every catalog is here too.
 *
 * | written                     | namespace        | table    |
 * | --------------------------- | ---------------- | -------- |
 * | `'db.orders'`               | `['db']`         | `orders` |
 * | `'lake.db.orders'`          | `['lake', 'db']` | `orders` |
 * | `['db', 'orders.2026']`     | `['db']`         | `orders.2026`: an array for names with dots |
 */
import { InvalidArgumentError } from '../errors.ts'
import type { StorageOptions } from '../io/default-file-io.ts'
import type { LoadTableOptions } from '../planner/load-table.ts'
import type { Table } from '../planner/table.ts'

export interface CatalogLoadOptions extends LoadTableOptions {
  /**
   * Of the storage, besides what the catalog says about it. The last word on properties of the same name; has no
   * effect with `io`.
   */
  storage?: StorageOptions
}

export interface Catalog {
  /**
   * The table of that name at its current version.
   *
   * Rejects with NotFoundError if there is no such table, InvalidArgumentError for what cannot be a name,
   * UnsupportedFeatureError for what the catalog asks of its clients and this one cannot do, StorageError,
   * InvalidMetadataError, the signal's reason.
   */
  loadTable(identifier: string | readonly string[], options?: CatalogLoadOptions): Promise<Table>
}

/** The name of a table, taken apart. */
export interface TableIdentifier {
  /** Outermost first, at least one. */
  readonly namespace: readonly string[]
  readonly name: string
}

/** @throws InvalidArgumentError unless it has a namespace and a name, none of them empty. */
export function parseIdentifier(identifier: string | readonly string[]): TableIdentifier {
  const parts = splitName(identifier)
  const refuse = (why: string): InvalidArgumentError =>
    new InvalidArgumentError(`Cannot load table ${describeName(parts)}: ${why}`)
  if (parts.length < 2) throw refuse("a table of a catalog is named with its namespace, such as 'db.orders'")
  checkName(parts, refuse)
  return { namespace: parts.slice(0, -1), name: parts.at(-1)! }
}

/** The levels of a namespace, outermost first; none for `''` and `[]`.
 *
 * @throws InvalidArgumentError if one of them is empty.
 */
export function parseNamespace(namespace: string | readonly string[]): readonly string[] {
  if (namespace === '') return []
  const levels = splitName(namespace)
  checkName(
    levels,
    (why) => new InvalidArgumentError(`Cannot look into namespace ${describeName(levels)}: ${why}`),
  )
  return levels
}

/** As in {@link parseIdentifier}, if that is possible: quoted are only the parts that have a dot. */
export function formatIdentifier({ namespace, name }: TableIdentifier): string {
  return describeName([...namespace, name])
}

function splitName(name: string | readonly string[]): readonly string[] {
  return typeof name === 'string' ? name.split('.') : [...name]
}

/** The parts with dots between them, for messages. */
export function describeName(parts: readonly string[]): string {
  return parts.map((part) => (/^[^.'\s]+$/.test(part) ? part : `'${part}'`)).join('.')
}

function checkName(parts: readonly string[], refuse: (why: string) => InvalidArgumentError): void {
  const given: readonly unknown[] = parts
  if (given.some((part) => typeof part !== 'string')) throw refuse('every part of a name is a string')
  if (parts.includes(''))
    throw refuse('one part of the name is empty; give an array if a part has dots in it')
}
