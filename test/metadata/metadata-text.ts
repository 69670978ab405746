/** The smallest valid metadata of each format version, with changes, as text. */
import { formatJson } from '../../src/metadata/lossless-json.ts'

const COMMON = {
  location: 's3://b/t',
  'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
  'last-updated-ms': 1_602_638_573_874,
  'last-column-id': 2,
}

/** One required int column, `a`, with id 1. */
export const SCHEMA = { type: 'struct', fields: [{ id: 1, name: 'a', required: true, type: 'int' }] }

/** Version 2 unless changed; `undefined` leaves a field out. */
export function metadataText(changes: object = {}): string {
  return formatJson({
    'format-version': 2,
    ...COMMON,
    'last-sequence-number': 34,
    schemas: [{ ...SCHEMA, 'schema-id': 0 }],
    'current-schema-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'default-spec-id': 0,
    'last-partition-id': 999,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
    ...changes,
  })
}

/** Version 1 as its oldest writers left it. */
export function metadataV1Text(changes: object = {}): string {
  return formatJson({ 'format-version': 1, ...COMMON, schema: SCHEMA, 'partition-spec': [], ...changes })
}
