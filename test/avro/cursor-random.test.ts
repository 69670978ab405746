/**
 * Random schemas and records: whatever the encoder writes, avsc and the cursor read alike.
 *
 * Every value is made once and carried in three forms: for the test encoder, for avsc (unions wrapped, longs as
 * bigint), and as the cursor is to give it.
 */
import { assert } from 'chai'
import avro from 'avsc'
import fc from 'fast-check'
import type { FieldBinding, Sink } from '../../src/avro/cursor-plan.ts'
import { writeContainer } from '../support/avro-container.ts'
import { compileEncoder, UnionBranch, type AvroField, type AvroSchema } from '../support/avro-encoder.ts'
import { ByteWriter } from '../support/byte-writer.ts'
import { decodeFile, type Row } from '../support/cursor-rows.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

const RUNS = 300

/** One value in three forms. */
interface Value {
  own: unknown
  avsc: unknown
  expected: unknown
}

/** A type, its values, and the sink that takes them; without one it is skipped. */
interface Kind {
  schema: AvroSchema
  values: fc.Arbitrary<Value>
  sink?: (numbers: Numbers) => Sink
}

/** Hands out ids, names of types, columns and null bits of one schema. */
class Numbers {
  readonly #next = new Map<string, number>()

  take(what: string): number {
    const number = this.#next.get(what) ?? 0
    this.#next.set(what, number + 1)
    return number
  }
}

const same = (value: unknown): Value => ({ own: value, avsc: value, expected: value })
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

const int = fc.oneof(fc.integer(), fc.integer({ min: -200, max: 200 }))
const long = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -300n, max: 300n }),
)
const exact = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -300, max: 300 }))
const bytes = fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.uint8Array({ minLength: 60, maxLength: 140 }))
const text = fc.oneof(
  fc.string({ maxLength: 8, unit: 'grapheme' }),
  fc.string({ minLength: 60, maxLength: 80 }),
)

const intValue = int.map(same)
const longValue = long.map((value): Value => ({ own: value, avsc: value, expected: value }))
const exactValue = exact.map((value): Value => ({ own: value, avsc: BigInt(value), expected: value + 0 }))
const bytesValue = bytes.map((value): Value => ({
  own: value,
  avsc: Buffer.from(value),
  expected: hex(value),
}))
const textValue = text.map((value): Value => ({ own: value, avsc: value, expected: hex(Buffer.from(value)) }))

function listOf(values: fc.Arbitrary<Value>, maxLength = 6): fc.Arbitrary<Value> {
  return fc.array(values, { maxLength }).map((items) => ({
    own: items.map(({ own }) => own),
    avsc: items.map(({ avsc }) => avsc),
    expected: items.map(({ expected }) => expected),
  }))
}

/** A record out of named values; `expected` has only the names in `bound`. */
function objectOf(
  fields: Readonly<Record<string, fc.Arbitrary<Value>>>,
  bound: readonly string[],
): fc.Arbitrary<Value> {
  return fc.record(fields).map((values) => {
    const pick = (form: keyof Value, names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, values[name][form]]))
    const names = Object.keys(values)
    return { own: pick('own', names), avsc: pick('avsc', names), expected: pick('expected', bound) }
  })
}

/** What avsc calls the branch of a type. */
function branchName(schema: AvroSchema): string {
  if (typeof schema === 'string') return schema
  const { type, name } = schema as { type: string; name?: string }
  return name ?? type
}

const simple = (
  schema: AvroSchema,
  values: fc.Arbitrary<Value>,
  kind: 'uint8' | 'int32' | 'float64' | 'int64' | 'bytes',
): Kind => ({
  schema,
  values,
  sink: (numbers) => ({ kind, column: numbers.take(kind) }),
})

const cells = (
  schema: AvroSchema,
  values: fc.Arbitrary<Value>,
  of: 'keys' | 'numbers' | 'number-map' | 'bytes-map',
): Kind => ({
  schema,
  values,
  sink: (numbers) => ({ kind: 'cells', column: numbers.take('cells'), of }),
})

/** The fields of a key-value record in one of its shapes, and its items. */
function pairKind(
  numbers: Numbers,
  of: 'number-map' | 'bytes-map',
  shape: 'plain' | 'value first' | 'more' | 'optional value',
): Kind {
  const id = 5000 + 10 * numbers.take('pair')
  const valueType = of === 'number-map' ? 'long' : 'bytes'
  const values = of === 'number-map' ? exactValue : bytesValue
  const key: AvroField = { name: 'key', type: 'int', 'field-id': id }
  const value: AvroField = {
    name: 'value',
    type: shape === 'optional value' ? ['null', valueType] : valueType,
    'field-id': id + 1,
  }
  const more: AvroField = { name: 'more', type: 'string', 'field-id': id + 2 }
  const fields = shape === 'value first' ? [value, key] : shape === 'more' ? [key, value, more] : [key, value]
  const optional = shape === 'optional value'
  const items = fc.array(fc.tuple(int, optional ? fc.option(values) : values), { maxLength: 5 })
  return cells(
    { type: 'array', items: { type: 'record', name: `kv${id}`, fields } },
    items.map((pairs) => ({
      own: pairs.map(([k, v]) => ({ key: k, value: v === null ? null : v.own, more: 'x' })),
      avsc: pairs.map(([k, v]) => ({
        key: k,
        value: v === null ? null : optional ? { [valueType]: v.avsc } : v.avsc,
        ...(shape === 'more' ? { more: 'x' } : {}),
      })),
      expected: pairs.flatMap(([k, v]) => (v === null ? [] : [[k, v.expected]])),
    })),
    of,
  )
}

function rowsKind(numbers: Numbers): Kind {
  const id = 7000 + 10 * numbers.take('rows')
  const union = (type: string) => ['null', type]
  const optional = (values: fc.Arbitrary<Value>, type: string) =>
    fc
      .option(values)
      .map((value): Value => (value === null ? same(null) : { ...value, avsc: { [type]: value.avsc } }))
  const fields: AvroField[] = [
    { name: 'skipped', type: union('string'), 'field-id': id },
    { name: 'flag', type: 'boolean', 'field-id': id + 1 },
    { name: 'bound', type: union('bytes'), 'field-id': id + 2 },
    { name: 'list', type: { type: 'array', items: 'long' }, 'field-id': id + 3 },
  ]
  const values = objectOf(
    {
      skipped: optional(textValue, 'string'),
      flag: fc.boolean().map((flag) => ({ ...same(flag), expected: Number(flag) })),
      bound: optional(bytesValue, 'bytes'),
      list: listOf(longValue),
    },
    ['flag', 'bound'],
  )
  return {
    schema: { type: 'array', items: { type: 'record', name: `item${id}`, fields } },
    values: listOf(values, 4),
    sink: () => ({
      kind: 'rows',
      column: numbers.take('cells'),
      fields: [
        { id: id + 1, names: ['flag'], sink: { kind: 'uint8', column: 0 }, nullBit: -1 },
        { id: id + 2, names: ['bound'], sink: { kind: 'bytes', column: 0 }, nullBit: 0 },
      ],
    }),
  }
}

const SYMBOLS = ['avro', 'orc']

/** Types that a column takes. */
const boundKinds: ((numbers: Numbers) => Kind)[] = [
  () =>
    simple(
      'boolean',
      fc.boolean().map((flag) => ({ ...same(flag), expected: Number(flag) })),
      'uint8',
    ),
  () => simple('int', fc.nat(63).map(same), 'uint8'),
  () => simple('int', intValue, 'int32'),
  () => simple('int', intValue, 'float64'),
  () => simple('long', exactValue, 'float64'),
  () =>
    simple(
      'int',
      int.map((value) => ({ ...same(value), expected: BigInt(value) })),
      'int64',
    ),
  () => simple('long', longValue, 'int64'),
  () => simple('string', textValue, 'bytes'),
  () => simple('bytes', bytesValue, 'bytes'),
  (numbers) =>
    simple(
      { type: 'fixed', name: `fixed${numbers.take('type')}`, size: 5 },
      fc
        .uint8Array({ minLength: 5, maxLength: 5 })
        .map((value) => ({ own: value, avsc: Buffer.from(value), expected: hex(value) })),
      'bytes',
    ),
  () => ({
    schema: 'string',
    values: fc
      .constantFrom('avro', 'AVRO', 'Orc', 'other', 'more', '')
      .map((name) => ({ ...same(name), expected: name.toLowerCase() })),
    sink: (numbers) => ({ kind: 'symbol', column: numbers.take('uint8'), symbols: SYMBOLS }),
  }),
  () => cells({ type: 'array', items: 'int' }, listOf(intValue), 'keys'),
  () => cells({ type: 'array', items: 'long' }, listOf(exactValue), 'numbers'),
  (numbers) => pairKind(numbers, 'number-map', 'plain'),
  (numbers) => pairKind(numbers, 'bytes-map', 'plain'),
  (numbers) => pairKind(numbers, 'number-map', 'value first'),
  (numbers) => pairKind(numbers, 'bytes-map', 'value first'),
  (numbers) => pairKind(numbers, 'number-map', 'more'),
  (numbers) => pairKind(numbers, 'bytes-map', 'optional value'),
]

/** Types that are only skipped. */
const skippedKinds: ((numbers: Numbers) => Kind)[] = [
  () => ({ schema: 'null', values: fc.constant(same(null)) }),
  () => ({ schema: 'double', values: fc.double({ noNaN: true }).map(same) }),
  () => ({ schema: 'float', values: fc.float({ noNaN: true }).map(same) }),
  (numbers) => ({
    schema: { type: 'enum', name: `enum${numbers.take('type')}`, symbols: ['A', 'B', 'C'] },
    values: fc.constantFrom('A', 'B', 'C').map(same),
  }),
  () => ({ schema: { type: 'array', items: 'string' }, values: listOf(textValue) }),
  () => ({
    schema: { type: 'array', items: { type: 'array', items: 'long' } },
    values: listOf(listOf(longValue)),
  }),
  () => ({
    schema: { type: 'map', values: 'int' },
    values: fc
      .dictionary(fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme-ascii' }), int, {
        maxKeys: 4,
        noNullPrototype: true,
      })
      .map(same),
  }),
  () => ({
    schema: ['null', 'string', 'long'],
    values: fc.oneof(
      fc.constant(same(null)),
      text.map((value) => ({ own: new UnionBranch(1, value), avsc: { string: value }, expected: 0 })),
      long.map((value) => ({ own: new UnionBranch(2, value), avsc: { long: value }, expected: 0 })),
    ),
  }),
  (numbers) => {
    const name = `node${numbers.take('type')}`
    const chain = fc.array(text, { maxLength: 6 }).map((texts) => {
      let own: unknown = null
      let wrapped: unknown = null
      for (const v of texts) {
        own = { v, next: own }
        wrapped = { [name]: { v, next: wrapped } }
      }
      return { own: { v: 'top', next: own }, avsc: { v: 'top', next: wrapped }, expected: 0 }
    })
    const fields = [
      { name: 'v', type: 'string', 'field-id': 8000 },
      { name: 'next', type: ['null', name], 'field-id': 8001 },
    ]
    return { schema: { type: 'record', name, fields }, values: chain }
  },
  (numbers) => {
    const name = `deep${numbers.take('type')}`
    const inner = {
      type: 'record',
      name: `${name}in`,
      fields: [{ name: 'q', type: 'bytes', 'field-id': 8003 }],
    }
    const fields = [
      { name: 'p', type: 'long', 'field-id': 8002 },
      { name: 'r', type: inner, 'field-id': 8004 },
    ]
    return {
      schema: { type: 'record', name, fields },
      values: objectOf({ p: longValue, r: objectOf({ q: bytesValue }, []) }, []),
    }
  },
]

type Optional = 'no' | 'null first' | 'null second'

/** What one field of a random schema is. */
interface FieldPlan {
  kind: number
  optional: Optional
  bound: boolean
}

const ALL_KINDS = [...boundKinds, rowsKind, ...skippedKinds]
const ROWS = boundKinds.length
const fieldPlan: fc.Arbitrary<FieldPlan> = fc.record({
  kind: fc.nat(ALL_KINDS.length - 1),
  optional: fc.constantFrom<Optional>('no', 'null first', 'null second'),
  bound: fc.boolean(),
})

interface Generated {
  fields: AvroField[]
  bindings: FieldBinding[]
  values: fc.Arbitrary<Value>
}

/** A record of the planned fields; what the same schema may have only once is taken once. */
function generate(plans: readonly FieldPlan[], nested: readonly FieldPlan[]): Generated {
  const numbers = new Numbers()
  let hasRows = false
  const build = (some: readonly FieldPlan[], prefix: string): Generated => {
    const fields: AvroField[] = []
    const bindings: FieldBinding[] = []
    const values: Record<string, fc.Arbitrary<Value>> = {}
    for (const plan of some) {
      if (plan.kind === ROWS && hasRows) continue
      hasRows ||= plan.kind === ROWS
      const kind = ALL_KINDS[plan.kind](numbers)
      const id = numbers.take('field') + 1
      const name = `${prefix}${id}`
      const isNull = kind.schema === 'null' || Array.isArray(kind.schema)
      const optional = isNull ? 'no' : plan.optional
      const { schema } = kind
      const type =
        optional === 'no' ? schema : optional === 'null first' ? ['null', schema] : [schema, 'null']
      fields.push({ name, type, 'field-id': id })
      values[name] =
        optional === 'no'
          ? kind.values
          : fc
              .option(kind.values)
              .map((value) =>
                value === null ? same(null) : { ...value, avsc: { [branchName(schema)]: value.avsc } },
              )
      if (plan.bound && kind.sink !== undefined)
        bindings.push({
          id,
          names: [name],
          sink: kind.sink(numbers),
          nullBit: optional === 'no' ? -1 : numbers.take('nullBit'),
        })
    }
    return {
      fields,
      bindings,
      values: objectOf(
        values,
        bindings.map(({ names }) => names[0]),
      ),
    }
  }
  const outer = build(plans, 'f')
  const inner = build(nested, 'g')
  const name = 'nested'
  const at = Math.floor(outer.fields.length / 2)
  outer.fields.splice(at, 0, {
    name,
    type: { type: 'record', name: 'nested_record', fields: inner.fields },
    'field-id': 4000,
  })
  // avsc writes nothing for a record without fields, and the cursor takes a block of no bytes for a lie.
  outer.fields.push({ name: 'last', type: 'boolean', 'field-id': 4001 })
  return {
    fields: outer.fields,
    bindings: [
      ...outer.bindings,
      { id: 4000, names: [name], sink: { kind: 'record', fields: inner.bindings }, nullBit: -1 },
    ],
    values: fc.tuple(outer.values, inner.values).map(([a, b]) => ({
      own: { ...(a.own as Row), [name]: b.own, last: true },
      avsc: { ...(a.avsc as Row), [name]: b.avsc, last: true },
      expected: { ...(a.expected as Row), [name]: b.expected },
    })),
  }
}

const BIGINT_LONG = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8)
    buffer.writeBigInt64LE(value)
    return buffer
  },
  fromJSON: (value: number) => BigInt(value),
  toJSON: (value: bigint) => Number(value),
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
})

/** avsc's class instances as plain objects. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (Buffer.isBuffer(value)) return hex(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}

const caseOf = fc
  .record({
    plans: fc.array(fieldPlan, { maxLength: 9 }),
    nested: fc.array(fieldPlan, { maxLength: 4 }),
  })
  .chain(({ plans, nested }) => {
    const generated = generate(plans, nested)
    return fc.record({
      generated: fc.constant(generated),
      records: fc.array(generated.values, { maxLength: 8 }),
      layout: fc.record({
        negativeCounts: fc.boolean(),
        itemsPerBlock: fc.constantFrom(1, 2, 1000),
      }),
      codec: fc.constantFrom('null' as const, 'deflate' as const, 'snappy' as const, 'zstandard' as const),
      entriesPerBlock: fc.constantFrom(1, 3, 100),
    })
  })

describe('cursor: random schemas', () => {
  it(`what avsc decodes, the cursor gives for the fields it is asked for ${WITH_SEED}`, function () {
    this.timeout(120_000)
    const tried = new Set<string>()
    fc.assert(
      fc.property(caseOf, ({ generated, records, layout, codec, entriesPerBlock }) => {
        const { fields, bindings } = generated
        const schema = { type: 'record', name: 'row', fields }
        const type = avro.Type.forSchema(schema as avro.Schema, {
          registry: { long: BIGINT_LONG },
          wrapUnions: true,
        })
        const encode = compileEncoder(schema)
        const encodeBlocks = compileEncoder(schema, layout)
        for (const { own, avsc } of records) {
          const one = new ByteWriter()
          encode(one, own)
          assert.equal(hex(one.view()), hex(type.toBuffer(avsc)), 'the test encoder writes what avsc writes')
          const many = new ByteWriter()
          encodeBlocks(many, own)
          const decoded: unknown = type.fromBuffer(Buffer.from(many.view()))
          assert.deepEqual(plain(decoded), plain(avsc), 'avsc reads what was written')
        }
        const file = writeContainer(
          schema,
          records.map(({ own }) => own),
          {},
          { codec, entriesPerBlock, layout },
        )
        assert.deepEqual(
          decodeFile(file, bindings).rows,
          records.map(({ expected }) => expected),
        )
        if (records.length > 0) for (const { sink } of bindings) tried.add(sink.kind)
      }),
      { seed: SEED, numRuns: RUNS },
    )
    assert.sameMembers(
      [...tried],
      ['uint8', 'int32', 'float64', 'int64', 'bytes', 'symbol', 'cells', 'record', 'rows'],
    )
  })
})
