/**
 * Headers and plans through the cache: looked up by their bytes, parsed and compiled when they are not there.
 */
import type { CodecName } from '../avro/codecs.ts'
import { parseCodec } from '../avro/codecs.ts'
import type { AvroContainer } from '../avro/container.ts'
import { readHeader } from '../avro/container.ts'
import type { CursorPlan } from '../avro/cursor-plan.ts'
import { compileCursorPlan } from '../avro/cursor-plan.ts'
import { fieldIdCoverage, parseAvroSchema } from '../avro/schema.ts'
import { CorruptFileError } from '../errors.ts'
import type { ReadFields } from './entry-fields.ts'
import { entryBindings, unreadNulls } from './entry-fields.ts'
import { LIST_BINDINGS } from './list-shape.ts'
import type { ManifestCache } from './manifest-cache.ts'
import { checkCoverage, ManifestShape } from './manifest-shape.ts'

/** The shape of a container's header, from the cache if it was seen before. */
export function manifestShape(container: AvroContainer, cache: ManifestCache): ManifestShape {
  const known = cache.findShape(container.header)
  if (known !== undefined) return known
  const copied = new Map<string, Uint8Array>()
  // Copies, so that a cached shape does not hold the whole file.
  for (const [key, value] of readHeader(container)) copied.set(key, Uint8Array.from(value))
  const shape = new ManifestShape(copied, container.location)
  cache.addShape(container.header, shape)
  return shape
}

/** The cursor plan of a shape for what is to be read, from the cache if it was compiled before. */
export function manifestPlan(
  shape: ManifestShape,
  read: ReadFields,
  location: string,
  cache: ManifestCache,
): CursorPlan {
  const variant = variantOf(read)
  const known = cache.findPlan(shape.writerSchemaBytes, variant)
  if (known !== undefined) return known
  const compiled = compileCursorPlan(shape.writerSchema, entryBindings(read), shape.byName, location)
  const plan = { ...compiled, absent: compiled.absent | unreadNulls(read.groups) }
  cache.addPlan(shape.writerSchemaBytes, variant, plan)
  return plan
}

/** Put together once for all manifests of a batch. */
const VARIANTS = new WeakMap<ReadFields, string>()

/** What a plan depends on, beside the schema. Which columns they are, is no business of it. */
function variantOf(read: ReadFields): string {
  let variant = VARIANTS.get(read)
  if (variant === undefined) {
    const { groups, metricColumns, isMetricsOnly } = read
    const kinds = [metricColumns === undefined ? '' : 'by column', isMetricsOnly ? 'metrics only' : '']
    variant = [groups.join(), ...kinds].join(';')
    VARIANTS.set(read, variant)
  }
  return variant
}

/** The codec of a list and the compiled form of its schema, from the cache if that was seen before. */
export function listShape(
  container: AvroContainer,
  cache: ManifestCache,
): { readonly codec: CodecName; readonly plan: CursorPlan } {
  const { location } = container
  const header = readHeader(container)
  const codec = parseCodec(header.get('avro.codec'), location)
  const schemaBytes = header.get('avro.schema')
  if (schemaBytes === undefined)
    throw new CorruptFileError(`Cannot read ${location}: its header has no avro.schema`, { location })
  const known = cache.findList(schemaBytes)
  if (known !== undefined) return { codec, plan: known.plan }
  const schema = parseAvroSchema(schemaBytes, location)
  const byName = checkCoverage(fieldIdCoverage(schema), location)
  const plan = compileCursorPlan(schema, LIST_BINDINGS, byName, location)
  cache.addList(schemaBytes, { plan })
  return { codec, plan }
}
