/** The cursor over tiny schemas: one oddity a row, written by the test encoder and read back as plain values. */
import { assert } from 'chai'
import type { FieldBinding } from '../../src/avro/cursor-plan.ts'
import { decodeBlocks } from '../../src/avro/cursor.ts'
import { ColumnStore, compactRows } from '../../src/avro/column-store.ts'
import { openContainer } from '../../src/avro/container.ts'
import { wantedKeys } from '../../src/avro/wanted-keys.ts'
import { CorruptFileError, isIcebergError, type IcebergError } from '../../src/errors.ts'
import { writeContainer, type ContainerOptions } from '../support/avro-container.ts'
import {
  Preencoded,
  UnionBranch,
  type AvroField,
  type AvroSchema,
  type BlockLayout,
} from '../support/avro-encoder.ts'
import { ByteWriter } from '../support/byte-writer.ts'
import { bind, decodeFile, layoutOf, readRow, type DecodeOptions, type Row } from '../support/cursor-rows.ts'
import { thrown } from '../support/rejection.ts'

const LOCATION = 's3://b/m.avro'

const field = (id: number, name: string, type: AvroSchema): AvroField => ({ name, type, 'field-id': id })
const record = (name: string, ...fields: AvroField[]): AvroSchema => ({ type: 'record', name, fields })
const arrayOf = (items: AvroSchema): AvroSchema => ({ type: 'array', items })
const hex = (text: string) => Buffer.from(text).toString('hex')

const write = (schema: AvroSchema, records: readonly unknown[], options: ContainerOptions = {}) =>
  writeContainer(schema, records, {}, { codec: 'null', ...options })

/** Rows of one file with the given fields. */
function rowsOf(
  fields: readonly AvroField[],
  bindings: readonly FieldBinding[],
  records: readonly unknown[],
  options: ContainerOptions & DecodeOptions = {},
): Row[] {
  return decodeFile(write(record('r', ...fields), records, options), bindings, options).rows
}

/** The value of one field `x` in one record. */
function valueOf(
  type: AvroSchema,
  binding: FieldBinding,
  value: unknown,
  options?: ContainerOptions & DecodeOptions,
) {
  return rowsOf([field(1, 'x', type)], [binding], [{ x: value }], options)[0].x
}

/** What one record of raw bytes is refused with. */
function rawError(
  fields: readonly AvroField[],
  bindings: readonly FieldBinding[],
  ...bytes: number[]
): IcebergError {
  const schema = record('r', ...fields)
  const file = write(schema, [new Preencoded(Uint8Array.from(bytes))])
  return thrown(() => decodeFile(file, bindings, { location: LOCATION }))
}

function assertCorrupt(error: IcebergError, message: RegExp, entry: number, byte: number): void {
  assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
  assert.match(error.message, message)
  assert.include(error.message, `Cannot read ${LOCATION}: entry ${entry} (byte ${byte} of the block at byte `)
  assert.deepInclude(error, { location: LOCATION, entry, byte })
}

const INT64 = bind(1, 'x', { kind: 'int64', column: 0 }, 0)
const FLOAT64 = bind(1, 'x', { kind: 'float64', column: 0 }, 0)
const INT32 = bind(1, 'x', { kind: 'int32', column: 0 }, 0)
const UINT8 = bind(1, 'x', { kind: 'uint8', column: 0 }, 0)
const BYTES = bind(1, 'x', { kind: 'bytes', column: 0 }, 0)
const SYMBOL = bind(1, 'x', { kind: 'symbol', column: 0, symbols: ['avro', 'orc', 'parquet'] }, 0)
const cells = (of: 'keys' | 'numbers' | 'number-map' | 'bytes-map') =>
  bind(1, 'x', { kind: 'cells', column: 0, of }, 0)

const pairs = (value: AvroSchema, key: AvroSchema = 'int'): AvroSchema =>
  arrayOf(record('kv', field(11, 'key', key), field(12, 'value', value)))

describe('cursor: numbers', () => {
  const longs: bigint[] = [0n, 2n ** 63n - 1n, -(2n ** 63n)]
  for (let power = 0n; power < 63n; power++)
    for (const near of [-1n, 0n, 1n]) longs.push(2n ** power + near, -(2n ** power + near))

  it('int64: every power of two and its neighbours, the least and the greatest', () => {
    const rows = rowsOf(
      [field(1, 'x', 'long')],
      [INT64],
      longs.map((x) => ({ x })),
    )
    assert.deepEqual(
      rows.map(({ x }) => x),
      longs,
    )
  })

  it('float64: exact from -2^53 to 2^53, beyond that an error with entry and byte', () => {
    for (const x of longs) {
      const file = write(record('r', field(1, 'x', 'long')), [{ x: 7 }, { x }])
      if (x >= -(2n ** 53n) && x <= 2n ** 53n) {
        const value = decodeFile(file, [FLOAT64]).rows[1].x
        assert.equal(BigInt(value as number), x)
        assert.isFalse(Object.is(value, -0))
      } else {
        const error = thrown(() => decodeFile(file, [FLOAT64], { location: LOCATION }))
        assertCorrupt(error, /a count or size is beyond 2\^53$/, 1, 1)
      }
    }
  })

  it('int32: the least, the greatest and the borders of each length', () => {
    for (const x of longs.filter((long) => BigInt.asIntN(32, long) === long))
      assert.equal(valueOf('int', INT32, x), Number(x))
  })

  const outside = [2n ** 31n, -(2n ** 31n) - 1n, 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n)]
  for (const x of outside)
    it(`int32: ${x} does not fit`, () => {
      const out = new ByteWriter()
      out.long(x)
      const error = rawError([field(1, 'x', 'int')], [INT32], ...out.toBytes())
      assertCorrupt(error, /the int -?\d+ does not fit 32 bits$/, 0, 0)
    })

  it('uint8: 0 to 63', () => {
    for (const x of [0, 1, 2, 62, 63]) assert.equal(valueOf('int', UINT8, x), x)
    for (const x of [-1, 64, 2 ** 31 - 1, -64]) {
      const out = new ByteWriter()
      out.long(x)
      const error = rawError([field(1, 'x', 'int')], [UINT8], ...out.toBytes())
      assertCorrupt(error, /a small number is out of range/, 0, 0)
    }
  })

  it('a boolean is 0 or 1 and nothing else', () => {
    assert.equal(valueOf('boolean', UINT8, true), 1)
    assert.equal(valueOf('boolean', UINT8, false), 0)
    assertCorrupt(rawError([field(1, 'x', 'boolean')], [UINT8], 2), /a boolean is 2$/, 0, 0)
  })

  it('longs that are written with more bytes than they need', () => {
    const padded = new Preencoded(Uint8Array.of(0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00))
    assert.equal(valueOf('long', INT64, padded), 1n)
    assert.equal(valueOf('long', FLOAT64, padded), 1)
    assert.equal(valueOf('int', INT32, padded), 1)
  })

  const eleven = [...Array<number>(10).fill(0x80), 0]
  const overlong: [binding: FieldBinding, type: AvroSchema, message: RegExp][] = [
    [INT64, 'long', /a number does not fit 64 bits$/],
    [FLOAT64, 'long', /longer than ten bytes$/],
    [INT32, 'int', /longer than ten bytes$/],
    [BYTES, 'string', /longer than ten bytes$/],
    [cells('numbers'), arrayOf('long'), /longer than ten bytes$/],
  ]
  for (const [binding, type, message] of overlong)
    it(`${binding.sink.kind}: a number of eleven bytes`, () => {
      assertCorrupt(rawError([field(1, 'x', type)], [binding], ...eleven), message, 0, 0)
    })

  it('int64: a number of ten bytes that does not fit 64 bits', () => {
    const error = rawError([field(1, 'x', 'long')], [INT64], ...Array<number>(9).fill(0x80), 2)
    assertCorrupt(error, /a number does not fit 64 bits$/, 0, 0)
  })
})

describe('cursor: unions', () => {
  const bound: [kind: string, type: AvroSchema, binding: FieldBinding, value: unknown, expected: unknown][] =
    [
      ['uint8', 'int', UINT8, 5, 5],
      ['boolean', 'boolean', UINT8, true, 1],
      ['int32', 'int', INT32, -70_000, -70_000],
      ['float64', 'long', FLOAT64, 2 ** 40, 2 ** 40],
      ['int64', 'long', INT64, 2n ** 62n, 2n ** 62n],
      ['string', 'string', BYTES, 'äb', hex('äb')],
      ['fixed', { type: 'fixed', name: 'f', size: 3 }, BYTES, Uint8Array.of(1, 2, 3), '010203'],
      ['symbol', 'string', SYMBOL, 'ORC', 'orc'],
      ['keys', arrayOf('int'), cells('keys'), [1, 2], [1, 2]],
      ['number-map', pairs('long'), cells('number-map'), new Map([[1, 2]]), [[1, 2]]],
    ]
  for (const [kind, type, binding, value, expected] of bound) {
    const optional = [{ x: value }, { x: null }, { x: value }]
    const wanted = [expected, null, expected]
    it(`B010: ${kind}, null first and null second`, () => {
      for (const union of [
        ['null', type],
        [type, 'null'],
      ])
        assert.deepEqual(
          rowsOf([field(1, 'x', union)], [binding], optional).map(({ x }) => x),
          wanted,
        )
    })

    it(`${kind}: a union of one branch still has a branch number`, () => {
      assert.deepEqual(valueOf([type], binding, value), expected)
    })

    it(`${kind}: an optional field that must not be null`, () => {
      const required = { ...binding, nullBit: -1 }
      for (const union of [
        ['null', type],
        [type, 'null'],
      ]) {
        const schema = record('r', field(1, 'x', union))
        assert.deepEqual(decodeFile(write(schema, [{ x: value }]), [required]).rows[0].x, expected)
        const file = write(schema, [{ x: value }, { x: null }])
        const error = thrown(() => decodeFile(file, [required], { location: LOCATION }))
        assert.equal(error.entry, 1)
        assert.match(
          error.message,
          /entry 1 \(byte \d+ of the block at byte \d+\): the required field x is null$/,
        )
      }
    })
  }

  const branches: [bytes: number[], message: RegExp, why: string][] = [
    [[4], /a union has no branch 2$/, 'a branch too far'],
    [[1], /a union has no branch -1$/, 'a negative branch'],
    [[0x80, 0x01], /a union has no branch/, 'a branch of two bytes'],
  ]
  for (const [bytes, message, why] of branches)
    it(`refuses ${why}, optional, required and skipped`, () => {
      const fields = [field(1, 'x', ['null', 'long'])]
      assertCorrupt(rawError(fields, [INT64], ...bytes), message, 0, 0)
      assertCorrupt(rawError(fields, [{ ...INT64, nullBit: -1 }], ...bytes), message, 0, 0)
      assertCorrupt(rawError(fields, [], ...bytes), message, 0, 0)
    })

  it('refuses a branch out of range in a skipped union of three', () => {
    const fields = [field(1, 'x', ['null', 'long', 'string'])]
    assertCorrupt(rawError(fields, [], 6), /a union has no branch 3$/, 0, 0)
    assertCorrupt(rawError(fields, [], 1), /a union has no branch -1$/, 0, 0)
  })
})

describe('cursor: fields', () => {
  const BINDINGS = [
    bind(1, 'a', { kind: 'int64', column: 0 }),
    bind(2, 'b', { kind: 'bytes', column: 0 }),
    bind(3, 'c', { kind: 'record', fields: [bind(4, 'd', { kind: 'int32', column: 0 }, 5)] }),
  ]
  const A = field(1, 'a', 'long')
  const B = field(2, 'b', 'string')
  const C = field(3, 'c', record('inner', field(4, 'd', 'int')))
  const RECORD = { a: 1n, b: 'two', c: { d: 4 } }
  const EXPECTED = [{ a: 1n, b: hex('two'), c: { d: 4 } }]

  it('in any order', () => {
    for (const fields of [
      [A, B, C],
      [C, B, A],
      [B, C, A],
    ])
      assert.deepEqual(rowsOf(fields, BINDINGS, [RECORD]), EXPECTED)
  })

  it('by id, whatever they are called', () => {
    const renamed = [field(1, 'b', 'long'), field(2, 'a', 'string'), { ...C, name: 'zzz' }]
    assert.deepEqual(rowsOf(renamed, BINDINGS, [{ b: 1n, a: 'two', zzz: { d: 4 } }]), EXPECTED)
  })

  it('of a repeated id the first field counts', () => {
    const fields = [A, field(1, 'again', 'string'), B, C]
    assert.deepEqual(rowsOf(fields, BINDINGS, [{ ...RECORD, again: 'skipped' }]), EXPECTED)
  })

  it('B005: by name in a file without ids, old names too', () => {
    const binding: FieldBinding = { ...INT64, names: ['new_name', 'old_name'] }
    for (const name of ['new_name', 'old_name'])
      assert.deepEqual(rowsOf([{ name, type: 'long' }], [binding], [{ [name]: 5 }]), [{ new_name: 5n }])
    assert.deepEqual(rowsOf([{ name: 'other', type: 'long' }], [binding], [{ other: 5 }]), [
      { new_name: null },
    ])
  })

  it('a field that the schema lacks is null in every row, or an error if it is required', () => {
    const both = [INT64, bind(2, 'y', { kind: 'bytes', column: 0 }, 7)]
    assert.deepEqual(rowsOf([A], both, [{ a: 1n }, { a: 2n }]), [
      { x: 1n, y: null },
      { x: 2n, y: null },
    ])
    const error = thrown(() => rowsOf([A], BINDINGS, [{ a: 1n }]))
    assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
    assert.match(error.message, /the required field b \(id 2\) is missing$/)
    const nested = [A, B, field(3, 'c', record('inner'))]
    const inner = [
      ...BINDINGS.slice(0, 2),
      bind(3, 'c', { kind: 'record', fields: [bind(4, 'd', INT32.sink)] }),
    ]
    assert.match(
      thrown(() => rowsOf(nested, inner, [{ ...RECORD, c: {} }])).message,
      /the required field c\.d \(id 4\) is missing$/,
    )
  })

  it('null bits of a row do not leak into the next', () => {
    const fields = [field(1, 'x', ['null', 'long'])]
    const rows = rowsOf(fields, [{ ...INT64, nullBit: 31 }], [{ x: null }, { x: 3n }, { x: null }])
    assert.deepEqual(
      rows.map(({ x }) => x),
      [null, 3n, null],
    )
  })

  const enumeration = { type: 'enum', name: 'e', symbols: ['A', 'B', 'C'] }
  const node = record('node', field(91, 'v', 'string'), field(92, 'next', ['null', 'node']))
  const unknown: [what: string, type: AvroSchema, ...values: unknown[]][] = [
    ['null', 'null', null],
    ['boolean', 'boolean', true, false],
    ['int', 'int', -1, 2 ** 31 - 1, -(2 ** 31)],
    ['long', 'long', 0, 2n ** 63n - 1n, -(2n ** 63n)],
    ['float', 'float', 1.5],
    ['double', 'double', -1e300],
    ['bytes', 'bytes', new Uint8Array(0), new Uint8Array(300).fill(0xff)],
    ['string', 'string', '', 'x'.repeat(64), 'x'.repeat(9000)],
    ['fixed', { type: 'fixed', name: 'f', size: 9 }, new Uint8Array(9).fill(0x80)],
    ['fixed of no bytes', { type: 'fixed', name: 'f0', size: 0 }, new Uint8Array(0)],
    ['enum', enumeration, 'A', 'C'],
    ['optional', ['null', 'string'], null, 'text'],
    ['optional, null second', ['double', 'null'], null, 2.5],
    ['optional null', ['null', 'null'], new UnionBranch(0, null), new UnionBranch(1, null)],
    ['union of one', ['long'], 77],
    ['union of three', ['null', 'string', 'long'], null, 'text', new UnionBranch(2, 2n ** 60n)],
    ['record', record('deep', field(90, 'p', record('deeper', field(91, 'q', 'string')))), { p: { q: 'z' } }],
    ['optional record', ['null', record('opt', field(90, 'p', 'long'))], null, { p: -5 }],
    ['recursive record', node, { v: 'a', next: { v: 'b', next: { v: 'c', next: null } } }],
    ['array of long', arrayOf('long'), [], [1], [1, -1, 2n ** 62n, 3, 4, 5, 6, 7, 8, 300]],
    ['array of string', arrayOf('string'), [], ['a', '', 'ccc']],
    ['array of boolean', arrayOf('boolean'), [true, false]],
    ['array of null', arrayOf('null'), [], [null]],
    ['array of optional', arrayOf(['null', 'int']), [1, null, 3]],
    ['array of arrays', arrayOf(arrayOf('int')), [[], [1, 2], [3]]],
    ['map of number', pairs('long'), new Map(), new Map([[1, 2n ** 61n]]), new Map([[-1, -2]])],
    ['map of bytes', pairs('bytes'), new Map(), new Map([[300, new Uint8Array(500)]])],
    ['map of double', pairs('double'), new Map([[1, 0.5]])],
    [
      'array of records',
      arrayOf(record('item', field(93, 'p', 'int'), field(94, 'q', enumeration), field(95, 'r', 'string'))),
      [],
      [
        { p: 1, q: 'B', r: 'x' },
        { p: 2, q: 'C', r: '' },
      ],
    ],
    ['map', { type: 'map', values: 'int' }, {}, { a: 1, b: 2 }],
    ['map of arrays', { type: 'map', values: arrayOf('string') }, { a: [], bb: ['x', 'y'] }],
  ]
  const layouts: [name: string, layout: BlockLayout][] = [
    ['one block', {}],
    ['negative counts', { negativeCounts: true }],
    ['an item a block', { itemsPerBlock: 1 }],
    ['negative counts, two items a block', { negativeCounts: true, itemsPerBlock: 2 }],
  ]
  for (const [what, type, ...values] of unknown)
    it(`B024: skips an unknown ${what}, first, in between and last`, () => {
      const extra = field(99, 'extra', type)
      for (const [name, layout] of layouts)
        for (const fields of [
          [extra, A, B, C],
          [A, extra, B, C],
          [A, B, C, extra],
        ]) {
          const records = values.map((value) => ({ ...RECORD, extra: value }))
          const expected = values.map(() => EXPECTED[0])
          assert.deepEqual(rowsOf(fields, BINDINGS, records, { layout }), expected, name)
        }
    })

  it('skips a recursive record 60 deep; deeper than 200 levels is an error', () => {
    const chain = (depth: number) => {
      let value: unknown = null
      for (let i = 0; i < depth; i++) value = { v: 'x', next: value }
      return value
    }
    const fields = [A, B, C, field(99, 'extra', node)]
    assert.deepEqual(rowsOf(fields, BINDINGS, [{ ...RECORD, extra: chain(60) }]), EXPECTED)
    const file = write(record('r', ...fields), [{ ...RECORD, extra: chain(1000) }])
    const error = thrown(() => decodeFile(file, BINDINGS, { location: LOCATION }))
    assert.match(error.message, /a value nests deeper than 200 levels$/)
    assert.equal(error.entry, 0)
  })

  it('B221: a record that must contain itself is an error', () => {
    const endless = record('endless', field(91, 'again', 'endless'))
    const error = rawError([field(1, 'x', 'long'), field(99, 'extra', endless)], [INT64], 2)
    assert.match(error.message, /a value nests deeper than 200 levels$/)
  })
})

describe('cursor: bytes', () => {
  it('every length around the borders, in strings, bytes and fixed', () => {
    for (const length of [0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 8191, 8192, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => i * 7)
      const expected = Buffer.from(bytes).toString('hex')
      assert.equal(valueOf('bytes', BYTES, bytes), expected)
      assert.equal(valueOf('string', BYTES, 's'.repeat(length)), hex('s'.repeat(length)))
      // A record of no bytes at all is taken for a lie about the count.
      if (length > 0)
        assert.equal(valueOf({ type: 'fixed', name: 'f', size: length }, BYTES, bytes), expected)
    }
  })

  it('many values share the heap and stay apart', () => {
    const values = Array.from({ length: 3000 }, (_, i) => `value ${i}`)
    const rows = rowsOf(
      [field(1, 'x', 'string')],
      [BYTES],
      values.map((x) => ({ x })),
    )
    assert.deepEqual(
      rows.map(({ x }) => x),
      values.map(hex),
    )
  })

  const lies: [bytes: number[], message: RegExp, byte: number, why: string][] = [
    [[10, 1, 2], /a value of 5 bytes runs past the block$/, 1, 'five bytes of two'],
    [[1], /a value of -1 bytes runs past the block$/, 0, 'a negative length'],
    [[0xfe, 0x01], /a value of 127 bytes runs past the block$/, 0, '127 bytes of none'],
    [
      [0xff, 0xff, 0xff, 0xff, 0x0f],
      /a value of -2147483648 bytes runs past the block$/,
      0,
      'a negative long length',
    ],
    [
      [...Array<number>(8).fill(0x80), 0x40],
      /a value of 2305843009213694000 bytes runs past the block$/,
      0,
      '2^61 bytes',
    ],
    [[0x80], /runs past the block or is longer than ten bytes$/, 0, 'a length that never ends'],
  ]
  for (const [bytes, message, byte, why] of lies)
    it(`B222: refuses ${why}`, () => {
      assertCorrupt(rawError([field(1, 'x', 'string')], [BYTES], ...bytes), message, 0, byte)
    })

  it('a fixed that is cut off', () => {
    const type = { type: 'fixed', name: 'f', size: 5 }
    assertCorrupt(
      rawError([field(1, 'x', type)], [BYTES], 1, 2),
      /a value of 5 bytes runs past the block$/,
      0,
      0,
    )
    assertCorrupt(rawError([field(1, 'x', type)], [], 1, 2), /the record runs past the block$/, 0, 5)
  })

  const skipped: [type: AvroSchema, bytes: number[], why: string][] = [
    ['string', [10, 1, 2], 'a string'],
    ['string', [0xfe, 0x01, 1], 'a long string'],
    ['double', [1, 2, 3], 'a double'],
    ['long', [0x80], 'a long'],
    [{ type: 'fixed', name: 'f', size: 2 ** 31 - 1 }, [1], 'a fixed of 2 GB'],
    [['null', 'long', 'string'], [4, 8, 1], 'a union of three'],
    [{ type: 'map', values: 'int' }, [2, 8, 1], 'a map'],
  ]
  for (const [type, bytes, why] of skipped)
    it(`refuses ${why} that is skipped and cut off`, () => {
      const error = rawError([field(1, 'x', type)], [], ...bytes)
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
      assert.match(error.message, /entry 0 \(byte \d+ of the block at byte \d+\): .*runs past the block/)
    })
})

describe('cursor: symbols', () => {
  it('compares without case and numbers other names after the list', () => {
    const names = [
      'parquet',
      'PARQUET',
      'Orc',
      'avro',
      'lance',
      'LANCE',
      'vortex',
      '',
      'parque',
      'parquetx',
      'pärquet',
    ]
    const rows = rowsOf(
      [field(1, 'x', 'string')],
      [SYMBOL],
      names.map((x) => ({ x })),
    )
    assert.deepEqual(
      rows.map(({ x }) => x),
      names.map((name) => name.toLowerCase()),
    )
  })

  it('refuses a name of 64 bytes and one that runs past the block', () => {
    const fields = [field(1, 'x', 'string')]
    assert.match(
      rawError(fields, [SYMBOL], 0x80, 1, ...Array<number>(64).fill(0x61)).message,
      /a name is too long$/,
    )
    assertCorrupt(rawError(fields, [SYMBOL], 8, 0x61), /a name of 4 bytes runs past the block$/, 0, 1)
    assertCorrupt(rawError(fields, [SYMBOL], 1), /a name is too long$/, 0, 0)
  })

  it('refuses the 254th name that is on no list of three', () => {
    const names = (count: number) => Array.from({ length: count }, (_, i) => ({ x: `format-${i}` }))
    const fields = [field(1, 'x', 'string')]
    assert.equal(rowsOf(fields, [SYMBOL], names(253))[252].x, 'format-252')
    const file = write(record('r', ...fields), names(254))
    const error = thrown(() => decodeFile(file, [SYMBOL], { location: LOCATION }))
    assert.match(error.message, /there are more than 255 different names$/)
    assert.equal(error.entry, 253)
  })
})

describe('cursor: arrays and maps', () => {
  const LAYOUTS: BlockLayout[] = [
    {},
    { negativeCounts: true },
    { itemsPerBlock: 1 },
    { itemsPerBlock: 3, negativeCounts: true },
  ]
  const everyWay = (type: AvroSchema, binding: FieldBinding, value: unknown, expected: unknown) => {
    for (const layout of LAYOUTS)
      assert.deepEqual(valueOf(type, binding, value, { layout }), expected, JSON.stringify(layout))
  }
  const bytes = (...values: number[]) => Uint8Array.from(values)

  it('B024: arrays of ids and of numbers, in one block or several, with and without sizes', () => {
    everyWay(arrayOf('int'), cells('keys'), [], [])
    everyWay(
      arrayOf('int'),
      cells('keys'),
      [1, -1, 2 ** 31 - 1, -(2 ** 31), 63, 64],
      [1, -1, 2 ** 31 - 1, -(2 ** 31), 63, 64],
    )
    everyWay(arrayOf('long'), cells('numbers'), [4, 2 ** 52, -5, 0, 64], [4, 2 ** 52, -5, 0, 64])
  })

  it('B022: ids declared as long are read if they fit', () => {
    everyWay(arrayOf('long'), cells('keys'), [1, 2, 300], [1, 2, 300])
    const out = new ByteWriter()
    out.long(1)
    out.long(2n ** 31n)
    out.long(0)
    const error = rawError([field(1, 'x', arrayOf('long'))], [cells('keys')], ...out.toBytes())
    assertCorrupt(error, /the int 2147483648 does not fit 32 bits$/, 0, 1)
  })

  it('a map of numbers', () => {
    const map = new Map<number, number | bigint>([
      [1, 0],
      [2, 2 ** 52],
      [1000, 3],
      [-3, -4],
      [2 ** 31 - 1, 1],
      [-(2 ** 31), 2],
    ])
    everyWay(pairs('long'), cells('number-map'), map, [...map])
    everyWay(pairs('int'), cells('number-map'), new Map([[1, 2]]), [[1, 2]])
    everyWay(pairs('long', 'long'), cells('number-map'), new Map([[1, 2]]), [[1, 2]])
    everyWay(pairs('long'), cells('number-map'), new Map(), [])
  })

  it('a map of bytes: up to eight in the cell, padded with zeros, longer ones in the heap', () => {
    const map = new Map(
      Array.from({ length: 12 }, (_, i) => [i * 50, bytes(...Array<number>(i).fill(0xf0 + i))]),
    )
    const expected = [...map].map(([key, value]) => [key, Buffer.from(value).toString('hex')])
    everyWay(pairs('bytes'), cells('bytes-map'), map, expected)
    const { store } = decodeFile(write(record('r', field(1, 'x', pairs('bytes'))), [{ x: map }]), [
      cells('bytes-map'),
    ])
    assert.deepEqual([...store.cellTag.subarray(0, 12)], [0, 1, 2, 3, 4, 5, 6, 7, 8, 255, 255, 255])
    assert.equal(store.heapLength, 9 + 10 + 11)
    everyWay(pairs('bytes'), cells('bytes-map'), new Map([[1, new Uint8Array(9000)]]), [
      [1, '00'.repeat(9000)],
    ])
    everyWay(pairs('string'), cells('bytes-map'), new Map([[1, 'text']]), [[1, hex('text')]])
  })

  it('a repeated key keeps both items, in file order', () => {
    const items = [
      { key: 1, value: 10 },
      { key: 1, value: 20 },
    ]
    everyWay(pairs('long'), cells('number-map'), items, [
      [1, 10],
      [1, 20],
    ])
  })

  const KEY = field(11, 'key', 'int')
  const VALUE = field(12, 'value', 'bytes')
  const NUMBER = field(12, 'value', 'long')
  const odd: [
    why: string,
    items: AvroSchema,
    of: 'number-map' | 'bytes-map',
    value: unknown[],
    expected: unknown[],
  ][] = [
    [
      'the value first',
      record('kv', VALUE, KEY),
      'bytes-map',
      [
        { key: 5, value: bytes(1, 2) },
        { key: 300, value: new Uint8Array(20) },
      ],
      [
        [5, '0102'],
        [300, '00'.repeat(20)],
      ],
    ],
    [
      'the value first, numbers',
      record('kv', NUMBER, KEY),
      'number-map',
      [
        { key: 5, value: 6 },
        { key: 7, value: 2 ** 40 },
      ],
      [
        [5, 6],
        [7, 2 ** 40],
      ],
    ],
    [
      'an optional key',
      record('kv', field(11, 'key', ['null', 'int']), NUMBER),
      'number-map',
      [{ key: 5, value: 6 }],
      [[5, 6]],
    ],
    [
      'an optional value: null is no item',
      record('kv', KEY, field(12, 'value', ['long', 'null'])),
      'number-map',
      [
        { key: 5, value: 6 },
        { key: 6, value: null },
      ],
      [[5, 6]],
    ],
    [
      'items that may be null',
      ['null', record('kv', KEY, VALUE)],
      'bytes-map',
      [{ key: 5, value: bytes(1) }, null, { key: 6, value: bytes() }],
      [
        [5, '01'],
        [6, ''],
      ],
    ],
    [
      'one more field',
      record('kv', KEY, VALUE, field(13, 'more', arrayOf('string'))),
      'bytes-map',
      [
        { key: 5, value: bytes(1), more: ['a', 'b'] },
        { key: 6, value: bytes(2), more: [] },
      ],
      [
        [5, '01'],
        [6, '02'],
      ],
    ],
    [
      'a fixed value',
      record('kv', KEY, field(12, 'value', { type: 'fixed', name: 'f', size: 2 })),
      'bytes-map',
      [{ key: 5, value: bytes(8, 9) }],
      [[5, '0809']],
    ],
    [
      'no ids, the key second by its name',
      record('kv', { name: 'value', type: 'long' }, { name: 'key', type: 'int' }),
      'number-map',
      [{ key: 5, value: 6 }],
      [[5, 6]],
    ],
    [
      'no ids, other names: the first is the key',
      record('kv', { name: 'k', type: 'int' }, { name: 'v', type: 'long' }),
      'number-map',
      [{ k: 5, v: 6 }],
      [[5, 6]],
    ],
  ]
  for (const [why, items, of, value, expected] of odd)
    it(`a map of key-value records with ${why}`, () => {
      everyWay(arrayOf(items), cells(of), value, expected)
      assert.deepEqual(valueOf(arrayOf(items), cells(of), value, { wanted: [1234] }), [])
    })

  it('a key that is null is an error', () => {
    const items = record('kv', field(11, 'key', ['null', 'int']), NUMBER)
    const error = rawError([field(1, 'x', arrayOf(items))], [cells('number-map')], 2, 0, 4, 0)
    assertCorrupt(error, /a map has an item without a key$/, 0, 1)
  })

  const wrongKeys: [why: string, items: AvroSchema][] = [
    ['in the usual shape', record('kv', field(11, 'key', 'long'), NUMBER)],
    ['of bytes', record('kv', field(11, 'key', 'long'), VALUE)],
    ['with an optional value', record('kv', field(11, 'key', 'long'), field(12, 'value', ['null', 'long']))],
  ]
  for (const [why, items] of wrongKeys)
    it(`a key that does not fit 32 bits is an error, in a map ${why}`, () => {
      const of = why === 'of bytes' ? 'bytes-map' : 'number-map'
      const item = new ByteWriter()
      item.long(1)
      item.long(2n ** 32n + 5n)
      item.raw(bytes(0, 0, 0))
      const error = rawError([field(1, 'x', arrayOf(items))], [cells(of)], ...item.toBytes())
      assertCorrupt(error, /the key 4294967301 does not fit 32 bits$/, 0, 1)
    })

  const notMaps: [why: string, type: AvroSchema, of: 'keys' | 'numbers' | 'number-map' | 'bytes-map'][] = [
    ['a map with string keys', { type: 'map', values: 'long' }, 'number-map'],
    ['an array of longs for a map', arrayOf('long'), 'number-map'],
    ['a record of one field', arrayOf(record('kv', KEY)), 'number-map'],
    ['a string key', pairs('long', 'string'), 'number-map'],
    ['bytes for numbers', pairs('bytes'), 'number-map'],
    ['numbers for bytes', pairs('long'), 'bytes-map'],
    ['doubles for bytes', pairs('double'), 'bytes-map'],
    ['fixed for numbers', pairs({ type: 'fixed', name: 'f', size: 8 }), 'number-map'],
    ['a value of several types', pairs(['null', 'bytes', 'long']), 'bytes-map'],
    ['strings for ids', arrayOf('string'), 'keys'],
    ['optional numbers', arrayOf(['null', 'long']), 'numbers'],
    ['an int', 'int', 'keys'],
  ]
  for (const [why, type, of] of notMaps)
    it(`${of} cannot be read from ${why}`, () => {
      const file = write(record('r', field(1, 'x', type)), [])
      const error = thrown(() => decodeFile(file, [cells(of)], { location: LOCATION }))
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
      assert.match(
        error.message,
        /in its Avro schema field x \(id 1\) has the type \w+, which it cannot have$/,
      )
    })

  const KEYS = [0, 1, 2, 63, 64, 100, 1000, 65_535, 65_536, 2_147_483_546, 2 ** 31 - 1, -1, -(2 ** 31)]
  const wantings: [wanted: 'all' | number[], why: string][] = [
    ['all', 'all'],
    [[], 'none'],
    [[1], 'a small one'],
    [[0, 64, 1000], 'several small ones'],
    [[65_535, 65_536], 'around the end of the small ones'],
    [[2_147_483_546], 'a reserved column'],
    [[-1, 2, -(2 ** 31), 2 ** 31 - 1], 'negative and the greatest'],
    [[3, 70_000], 'ids that no item has'],
  ]
  for (const [wanted, why] of wantings)
    it(`wanted keys: ${why}`, () => {
      const kept = KEYS.filter((key) => wanted === 'all' || wanted.includes(key))
      const numbers = new Map(KEYS.map((key, i) => [key, i * 100]))
      const values = new Map(KEYS.map((key, i) => [key, bytes(...Array<number>(i).fill(i))]))
      const expectedNumbers = kept.map((key) => [key, numbers.get(key)])
      const expectedBytes = kept.map((key) => [key, Buffer.from(values.get(key)!).toString('hex')])
      assert.deepEqual(valueOf(pairs('long'), cells('number-map'), numbers, { wanted }), expectedNumbers)
      assert.deepEqual(valueOf(pairs('bytes'), cells('bytes-map'), values, { wanted }), expectedBytes)
      const optional = pairs(['null', 'bytes'])
      assert.deepEqual(valueOf(optional, cells('bytes-map'), values, { wanted }), expectedBytes)
    })

  it('a wanted key that is written with more bytes than it needs', () => {
    // 1, 1 in three bytes, 64 in four, and 65 in three, which nobody wants.
    const keys = [[0x02], [0x82, 0x80, 0x00], [0x80, 0x81, 0x80, 0x00], [0x82, 0x81, 0x00]]
    const raw = (value: number[]) => [8, ...keys.flatMap((key) => [...key, ...value]), 0]
    const read = (of: 'number-map' | 'bytes-map', value: number[]) =>
      valueOf(
        pairs(of === 'number-map' ? 'long' : 'bytes'),
        cells(of),
        new Preencoded(Uint8Array.from(raw(value))),
        {
          wanted: [1, 64],
        },
      )
    assert.deepEqual(read('number-map', [10]), [
      [1, 5],
      [1, 5],
      [64, 5],
    ])
    assert.deepEqual(read('bytes-map', [2, 7]), [
      [1, '07'],
      [1, '07'],
      [64, '07'],
    ])
  })

  const rowsOfKeys: [why: string, wanted: number[], keys: number[][]][] = [
    ['the same in every row', [2, 64], Array<number[]>(4).fill([1, 2, 3, 64, 100])],
    [
      'one that is missing in the second row',
      [2, 3],
      [
        [1, 2, 3],
        [1, 2, 4],
        [1, 2, 3],
      ],
    ],
    [
      'one that only the second row has',
      [2, 3],
      [
        [1, 2, 4],
        [1, 2, 3],
        [1, 2, 4],
      ],
    ],
    [
      'other places, as many items',
      [2, 3],
      [
        [1, 2, 3, 4],
        [2, 1, 4, 3],
        [4, 3, 2, 1],
      ],
    ],
    [
      'the first in its place, the second not',
      [2, 3],
      [
        [1, 2, 3, 4],
        [1, 2, 4, 3],
        [1, 2, 3, 4],
      ],
    ],
    ['more and fewer items', [2], [[1, 2], [1, 2, 3], [2], [], [1, 2]]],
    ['first and last', [1, 5], Array<number[]>(3).fill([1, 2, 3, 4, 5])],
    [
      'ten, more than places are remembered of',
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      Array<number[]>(3).fill([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ],
    ['a reserved column', [2_147_483_546], Array<number[]>(3).fill([1, 2_147_483_546, 3])],
  ]
  for (const [why, wanted, keysOfRows] of rowsOfKeys)
    for (const layout of LAYOUTS)
      it(`wanted keys from row to row: ${why}; ${JSON.stringify(layout)}`, () => {
        const schema = record('r', field(1, 'n', pairs('long')), field(2, 'b', pairs('bytes')))
        const rows = keysOfRows.map((keys, row) => ({
          n: new Map(keys.map((key) => [key, key * 1000 + row])),
          b: new Map(keys.map((key) => [key, bytes(...Array<number>(key % 13).fill(row))])),
        }))
        const bindings = [
          bind(1, 'n', { kind: 'cells', column: 0, of: 'number-map' }),
          bind(2, 'b', { kind: 'cells', column: 1, of: 'bytes-map' }),
        ]
        const decoded = decodeFile(write(schema, rows, { layout }), bindings, { wanted })
        assert.deepEqual(
          decoded.rows,
          rows.map(({ n, b }) => ({
            n: [...n].filter(([key]) => wanted.includes(key)),
            b: [...b]
              .filter(([key]) => wanted.includes(key))
              .map(([key, value]) => [key, Buffer.from(value).toString('hex')]),
          })),
        )
        const keyed = [
          bind(1, 'n', { kind: 'keyed', column: 0, of: 'number-map' }),
          bind(2, 'b', { kind: 'keyed', column: 0, of: 'bytes-map' }),
        ]
        assert.deepEqual(
          decodeFile(write(schema, rows, { layout }), keyed, { wanted }).rows,
          rows.map(({ n, b }) => ({
            // Numbers of more than 32 bits are not kept by column.
            n: wanted.map((key) => (n.get(key)! < 2 ** 32 - 1 ? n.get(key) : null)),
            b: wanted.map((key) => (b.has(key) ? Buffer.from(b.get(key)!).toString('hex') : null)),
          })),
          'by column',
        )
      })

  it('wanted keys from row to row: a map that ends early is an error in every row', () => {
    const whole = [8, 2, 2, 4, 4, 6, 6, 8, 8, 0]
    for (const of of ['number-map', 'bytes-map'] as const) {
      const schema = record('r', field(1, 'x', pairs(of === 'number-map' ? 'long' : 'bytes')))
      const item = of === 'number-map' ? whole : [8, 2, 2, 9, 4, 2, 9, 6, 2, 9, 8, 2, 9, 0]
      for (let cut = 1; cut < item.length; cut++) {
        const rows = [item, item.slice(0, cut)].map((raw) => ({ x: new Preencoded(Uint8Array.from(raw)) }))
        const read = () => decodeFile(write(schema, rows), [cells(of)], { wanted: [1, 3] })
        assert.throws(read, CorruptFileError, /entry 1 /, `${of}, cut at ${cut}`)
      }
    }
  })

  it('wanted keys do not touch arrays', () => {
    assert.deepEqual(valueOf(arrayOf('int'), cells('keys'), [1, 2], { wanted: [] }), [1, 2])
    assert.deepEqual(valueOf(arrayOf('long'), cells('numbers'), [1, 2], { wanted: [] }), [1, 2])
  })

  const number = (value: number | bigint): number[] => {
    const out = new ByteWriter()
    out.long(value)
    return [...out.toBytes()]
  }
  const types: [name: string, type: AvroSchema, binding: FieldBinding | undefined][] = [
    ['ids', arrayOf('int'), cells('keys')],
    ['numbers', arrayOf('long'), cells('numbers')],
    ['a map of numbers', pairs('long'), cells('number-map')],
    ['a map of bytes', pairs('bytes'), cells('bytes-map')],
    ['an odd map', pairs(['null', 'bytes']), cells('bytes-map')],
    ['skipped numbers', arrayOf('long'), undefined],
    ['a skipped map of numbers', pairs('long'), undefined],
    ['a skipped map of bytes', pairs('bytes'), undefined],
    ['skipped strings', arrayOf('string'), undefined],
    ['a skipped map', { type: 'map', values: 'long' }, undefined],
  ]
  for (const [name, type, binding] of types) {
    const error = (...bytes: number[]) =>
      rawError([field(1, 'x', type)], binding === undefined ? [] : [binding], ...bytes)
    it(`B222: ${name}: 2^40 items in a few bytes`, () => {
      assertCorrupt(error(...number(2 ** 40), 0, 0, 0), /1099511627776 items are claimed in 3 bytes$/, 0, 6)
    })
    it(`B024: ${name}: a count that cannot be negated`, () => {
      assert.match(error(...number(-(2n ** 63n)), 0, 0).message, /items are claimed in 2 bytes$/)
    })
    it(`B024: ${name}: a negative count with a size past the block`, () => {
      assert.match(error(1, 20, 0).message, /entry 0 .*(a block of 10 bytes runs past its end)$/)
      assert.match(error(1, 3, 0).message, /a block of -2 bytes runs past its end$/)
    })
    it(`${name}: no end`, () => {
      assert.match(error(0x80).message, /runs past the block/)
      assert.isTrue(isIcebergError(error(2), 'ERR_CORRUPT_FILE'))
      assert.isTrue(isIcebergError(error(), 'ERR_CORRUPT_FILE'))
      assert.isTrue(isIcebergError(error(4, 2, 2), 'ERR_CORRUPT_FILE'))
    })
  }

  it('an array of a few nulls costs nothing, however often it claims more', () => {
    const type = arrayOf(record('nothing', field(98, 'n', 'null')))
    const fields = [field(1, 'x', arrayOf(type))]
    // 200,000 inner arrays, each of as many items as there are bytes left: 10^10 steps if they were taken.
    const out = new ByteWriter(2_000_000)
    const inner = 200_000
    out.long(inner)
    for (let i = 0; i < inner; i++) {
      out.long(100_000)
      out.byte(0)
    }
    for (let i = 0; i < 100_100; i++) out.byte(0)
    const file = write(record('r', ...fields), [new Preencoded(out.toBytes())])
    assert.match(thrown(() => decodeFile(file, [])).message, /bytes are left over$/)
  })
})

describe('cursor: child rows', () => {
  const FIELDS = [
    bind(509, 'contains_null', { kind: 'uint8', column: 0 }),
    bind(518, 'contains_nan', { kind: 'uint8', column: 1 }, 0),
    bind(510, 'lower', { kind: 'bytes', column: 0 }, 1),
    bind(511, 'upper', { kind: 'bytes', column: 1 }, 2),
  ]
  const BINDINGS = [
    bind(500, 'path', { kind: 'bytes', column: 0 }),
    bind(507, 'partitions', { kind: 'rows', column: 0, fields: FIELDS }, 0),
    bind(520, 'last', { kind: 'int64', column: 0 }),
  ]
  const item = (...fields: AvroField[]) => record('r508', ...fields)
  const ITEM = item(
    field(509, 'contains_null', 'boolean'),
    field(518, 'contains_nan', ['null', 'boolean']),
    field(510, 'lower', ['null', 'bytes']),
    field(511, 'upper', ['bytes', 'null']),
  )
  const list = (items: AvroSchema) => [
    field(500, 'path', 'string'),
    field(507, 'partitions', ['null', arrayOf(items)]),
    field(520, 'last', 'long'),
  ]
  const bytes = Uint8Array.of(1, 2)

  it('rows of rows, in blocks of every layout; null, empty and several', () => {
    const records = [
      { path: 'a', partitions: null, last: 1n },
      { path: 'b', partitions: [], last: 2n },
      {
        path: 'c',
        partitions: [
          { contains_null: true, contains_nan: null, lower: bytes, upper: null },
          { contains_null: false, contains_nan: true, lower: null, upper: new Uint8Array(100) },
          { contains_null: false, contains_nan: false, lower: new Uint8Array(0), upper: bytes },
        ],
        last: 3n,
      },
      {
        path: 'd',
        partitions: [{ contains_null: true, contains_nan: null, lower: null, upper: null }],
        last: 4n,
      },
    ]
    const expected = [
      { path: hex('a'), partitions: null, last: 1n },
      { path: hex('b'), partitions: [], last: 2n },
      {
        path: hex('c'),
        partitions: [
          { contains_null: 1, contains_nan: null, lower: '0102', upper: null },
          { contains_null: 0, contains_nan: 1, lower: null, upper: '00'.repeat(100) },
          { contains_null: 0, contains_nan: 0, lower: '', upper: '0102' },
        ],
        last: 3n,
      },
      {
        path: hex('d'),
        partitions: [{ contains_null: 1, contains_nan: null, lower: null, upper: null }],
        last: 4n,
      },
    ]
    for (const layout of [
      {},
      { negativeCounts: true },
      { itemsPerBlock: 1 },
      { itemsPerBlock: 2, negativeCounts: true },
    ])
      for (const entriesPerBlock of [1, 10])
        assert.deepEqual(rowsOf(list(ITEM), BINDINGS, records, { layout, entriesPerBlock }), expected)
  })

  it('unknown fields of every type in the items are skipped, absent ones are null', () => {
    const items = item(
      field(90, 'p', arrayOf('long')),
      field(91, 'q', record('inner', field(92, 'r', 'string'), field(93, 's', ['null', 'double']))),
      field(509, 'contains_null', 'boolean'),
      field(94, 't', { type: 'map', values: 'int' }),
      field(95, 'u', ['null', 'long', 'string']),
      field(96, 'v', 'long'),
      field(97, 'w', { type: 'fixed', name: 'f', size: 3 }),
      field(98, 'z', pairs('bytes')),
    )
    const partition = {
      p: [1, 2],
      q: { r: 'x', s: 2.5 },
      contains_null: true,
      t: { a: 1 },
      u: new UnionBranch(2, 'text'),
      v: -1,
      w: new Uint8Array(3),
      z: new Map([[1, bytes]]),
    }
    const rows = rowsOf(list(items), BINDINGS, [{ path: 'a', partitions: [partition, partition], last: 7n }])
    const expected = { contains_null: 1, contains_nan: null, lower: null, upper: null }
    assert.deepEqual(rows, [{ path: hex('a'), partitions: [expected, expected], last: 7n }])
  })

  it('a required field of the items that is missing or null is named', () => {
    const missing = write(record('r', ...list(item(field(510, 'lower', 'bytes')))), [])
    assert.match(
      thrown(() => decodeFile(missing, BINDINGS)).message,
      /the required field partitions\.contains_null \(id 509\) is missing$/,
    )
    const optional = list(item(field(509, 'contains_null', ['null', 'boolean'])))
    const partitions = [{ contains_null: true }, { contains_null: null }]
    const file = write(record('r', ...optional), [{ path: 'a', partitions, last: 1n }])
    const error = thrown(() => decodeFile(file, BINDINGS, { location: LOCATION }))
    assertCorrupt(error, /the required field partitions\.contains_null is null$/, 0, 6)
  })

  const broken: [bytes: number[], message: RegExp, why: string][] = [
    [[2, 1, 0, 0], /runs past the block$/, 'items that end early'],
    [[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], /items are claimed in 0 bytes$/, 'more items than bytes'],
    [[2, 2], /a boolean is 2$/, 'a boolean of 2'],
    [[2, 1, 4], /a union has no branch 2$/, 'a branch out of range'],
    [[2, 1, 0, 2, 100], /a value of 50 bytes runs past the block$/, 'a bound longer than the block'],
    [[0x80], /runs past the block or is longer than ten bytes$/, 'a count that never ends'],
  ]
  for (const [tail, message, why] of broken)
    it(`refuses ${why}`, () => {
      const error = rawError(list(ITEM), BINDINGS, 0, 2, ...tail)
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
      assert.match(error.message, message)
      assert.equal(error.entry, 0)
    })
})

describe('cursor: tuples', () => {
  const TUPLE = bind(102, 'partition', { kind: 'tuple' })
  const partition = (...fields: AvroField[]) => field(102, 'partition', record('r102', ...fields))
  const day = field(1000, 'day', ['null', 'int'])
  const name = field(1001, 'name', ['null', 'string'])

  it('numbers distinct raw encodings in the order of their appearance, over all blocks', () => {
    const tuples = [
      { day: 1, name: 'a' },
      { day: null, name: null },
      { day: 1, name: 'a' },
      { day: 1, name: 'b' },
      { day: null, name: null },
    ]
    const records = tuples.map((partition) => ({ partition }))
    for (const entriesPerBlock of [1, 2, 10]) {
      const file = write(record('r', partition(day, name)), records, { entriesPerBlock })
      const { rows, store, plan } = decodeFile(file, [TUPLE])
      assert.deepEqual(
        rows.map(({ partition }) => partition),
        [0, 1, 0, 2, 1],
      )
      assert.equal(store.tuples.count, 3)
      assert.equal(Buffer.from(store.tuples.at(0)).toString('hex'), '02020202' + '61')
      assert.equal(plan.tupleSchema?.type, 'record')
    }
  })

  it('the empty tuple of an unpartitioned table is one encoding of no bytes', () => {
    const file = write(record('r', field(1, 'x', 'long'), partition()), [
      { x: 1, partition: {} },
      { x: 2, partition: {} },
    ])
    const { rows, store } = decodeFile(file, [TUPLE, INT64])
    assert.deepEqual(rows, [
      { partition: 0, x: 1n },
      { partition: 0, x: 2n },
    ])
    assert.equal(store.tuples.at(0).length, 0)
  })

  it('B010: the branch of an optional tuple is part of its encoding', () => {
    const optional = field(102, 'partition', ['null', record('r102', day)])
    const { rows, plan } = decodeFile(
      write(record('r', optional), [
        { partition: { day: 1 } },
        { partition: null },
        { partition: { day: null } },
      ]),
      [TUPLE],
    )
    assert.deepEqual(
      rows.map(({ partition }) => partition),
      [0, 1, 2],
    )
    assert.equal(plan.tupleSchema?.type, 'union')
  })

  it('a schema without the tuple says so in the plan', () => {
    const { plan } = decodeFile(write(record('r', field(1, 'x', 'long')), [{ x: 1 }]), [TUPLE])
    assert.isUndefined(plan.tupleSchema)
  })

  it('a tuple that is cut off', () => {
    const error = rawError([partition(name)], [TUPLE], 2, 10, 0x61)
    assertCorrupt(error, /the record runs past the block$/, 0, 7)
  })
})

describe('cursor: types that a column cannot take', () => {
  const rows: [type: AvroSchema, binding: FieldBinding, message: RegExp][] = [
    ['string', INT64, /field x \(id 1\) has the type string, which it cannot have$/],
    ['double', FLOAT64, /has the type double/],
    ['boolean', INT32, /has the type boolean/],
    ['string', UINT8, /has the type string/],
    ['long', BYTES, /has the type long/],
    [['null', 'null'], BYTES, /has the type null/],
    ['int', SYMBOL, /has the type int/],
    [['null', 'int', 'long'], INT64, /field x is a union of several types$/],
    [['int', 'long'], INT64, /field x is a union of several types$/],
    ['int', bind(1, 'x', { kind: 'record', fields: [] }), /has the type int/],
    ['int', bind(1, 'x', { kind: 'rows', column: 0, fields: [] }), /has the type int/],
    [arrayOf('int'), bind(1, 'x', { kind: 'rows', column: 0, fields: [] }), /has the type array/],
  ]
  for (const [type, binding, message] of rows)
    it(`${JSON.stringify(type)} for ${binding.sink.kind}`, () => {
      const error = thrown(() =>
        decodeFile(write(record('r', field(1, 'x', type)), []), [binding], { location: LOCATION }),
      )
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
      assert.match(error.message, message)
      assert.equal(error.location, LOCATION)
    })

  it('a schema that is no record', () => {
    const error = thrown(() => decodeFile(write('long', []), [INT64]))
    assert.match(error.message, /its Avro schema is a long, not a record$/)
  })

  it('B221: a thousand fields that each unroll a thousand are refused, not compiled for a minute', () => {
    const inner = record('inner', ...Array.from({ length: 1000 }, (_, i) => field(i, `f${i}`, 'int')))
    const fields = Array.from({ length: 1000 }, (_, i) => field(5000 + i, `g${i}`, i === 0 ? inner : 'inner'))
    const error = thrown(() => decodeFile(write(record('r', ...fields), []), []))
    assert.match(error.message, /it has more than 200000 nodes$/)
  })
})

describe('cursor: blocks', () => {
  const FIELDS = [field(1, 'x', 'long'), field(2, 's', 'string')]
  const BINDINGS = [INT64, bind(2, 's', { kind: 'bytes', column: 0 })]
  const records = Array.from({ length: 100 }, (_, i) => ({ x: BigInt(i), s: `row ${i}` }))
  const expected = records.map(({ x, s }) => ({ x, s: hex(s) }))

  for (const codec of ['null', 'deflate', 'snappy', 'zstandard'] as const)
    it(`${codec}: many blocks, few blocks, one block`, () => {
      for (const entriesPerBlock of [1, 7, 100])
        assert.deepEqual(rowsOf(FIELDS, BINDINGS, records, { codec, entriesPerBlock }), expected)
    })

  it('rows are appended behind those that are there', () => {
    const store = new ColumnStore(layoutOf(BINDINGS))
    const file = write(record('r', ...FIELDS), records, { entriesPerBlock: 9 })
    decodeFile(file, BINDINGS, { store })
    decodeFile(file, BINDINGS, { store, firstRow: 100 })
    assert.deepEqual(
      Array.from({ length: 200 }, (_, row) => readRow(store, BINDINGS, row)),
      [...expected, ...expected],
    )
  })

  it('decodeBlocks takes one block a step, and files may take turns', () => {
    const file = (codec: 'null' | 'deflate') =>
      write(record('r', ...FIELDS), records, { codec, entriesPerBlock: 30 })
    const { plan } = decodeFile(file('null'), BINDINGS)
    const stores = [new ColumnStore(layoutOf(BINDINGS)), new ColumnStore(layoutOf(BINDINGS))]
    const steps = (['deflate', 'null'] as const).map((codec, i) =>
      decodeBlocks(openContainer(file(codec), 'x'), codec, plan, stores[i], 0, wantedKeys('all')),
    )
    for (let i = 0; i < 3; i++)
      for (const step of steps) assert.deepEqual(step.next(), { value: undefined, done: false })
    for (const step of steps) assert.deepEqual(step.next(), { value: 100, done: true })
    for (const store of stores)
      assert.deepEqual(
        records.map((_, row) => readRow(store, BINDINGS, row)),
        expected,
      )
  })

  it('an error in a later row names that row of the file, and the byte of its block', () => {
    const bad = new Preencoded(Uint8Array.of(2, 1))
    const all = [...records.slice(0, 4), bad]
    const error = thrown(() =>
      decodeFile(write(record('r', ...FIELDS), all, { entriesPerBlock: 2 }), BINDINGS, {
        location: LOCATION,
      }),
    )
    assert.equal(error.entry, 4)
    assert.equal(error.byte, 1)
    assert.match(error.message, /entry 4 \(byte 1 of the block at byte \d+\)/)
  })

  it('entries are counted from the file, not from the rows before it', () => {
    const store = new ColumnStore(layoutOf(BINDINGS))
    decodeFile(write(record('r', ...FIELDS), records), BINDINGS, { store })
    const file = write(record('r', ...FIELDS), [records[0], new Preencoded(Uint8Array.of(2, 1))])
    const error = thrown(() => decodeFile(file, BINDINGS, { store, firstRow: 100, location: LOCATION }))
    assert.equal(error.entry, 1)
  })

  it('bytes left over in a block', () => {
    const bad = new Preencoded(Uint8Array.of(2, 2, 0x61, 0, 0))
    const error = thrown(() =>
      decodeFile(write(record('r', ...FIELDS), [bad]), BINDINGS, { location: LOCATION }),
    )
    assertCorrupt(error, /2 bytes are left over$/, 1, 3)
  })

  it('a record that runs past the block does not read what follows it', () => {
    // The string needs one byte more; in a file without compression the sync marker follows.
    for (const codec of ['null', 'deflate'] as const) {
      const bad = new Preencoded(Uint8Array.of(2, 4, 0x61))
      const error = thrown(() =>
        decodeFile(write(record('r', ...FIELDS), [bad], { codec }), BINDINGS, { location: LOCATION }),
      )
      assertCorrupt(error, /a value of 2 bytes runs past the block$/, 0, 2)
    }
  })

  it('every number of every kind that ends with the block is refused', () => {
    const kinds: [type: AvroSchema, binding: FieldBinding][] = [
      ['long', INT64],
      ['long', FLOAT64],
      ['int', INT32],
      ['int', UINT8],
      ['boolean', UINT8],
      ['string', BYTES],
      ['string', SYMBOL],
      [['null', 'long'], INT64],
      [arrayOf('int'), cells('keys')],
    ]
    for (const codec of ['null', 'deflate'] as const)
      for (const [type, binding] of kinds) {
        const fields = [field(9, 'first', 'boolean'), field(1, 'x', type)]
        const file = write(record('r', ...fields), [new Preencoded(Uint8Array.of(1))], { codec })
        const error = thrown(() => decodeFile(file, [binding], { location: LOCATION }))
        assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
        assert.equal(error.entry, 0)
      }
  })
})

describe('compactRows', () => {
  it('keeps the given rows, in the given order, and only what they use', () => {
    const bindings = [
      bind(1, 'a', { kind: 'int64', column: 0 }, 0),
      bind(2, 'b', { kind: 'bytes', column: 0 }, 1),
      bind(3, 'c', { kind: 'cells', column: 0, of: 'bytes-map' }, 2),
      bind(4, 'd', { kind: 'cells', column: 1, of: 'numbers' }, 3),
      bind(5, 'e', { kind: 'symbol', column: 0, symbols: ['orc'] }, 4),
      bind(6, 'f', { kind: 'float64', column: 0 }, 5),
      bind(7, 'g', { kind: 'tuple' }),
      bind(8, 'h', { kind: 'int32', column: 0 }, 6),
    ]
    const fields = [
      field(1, 'a', ['null', 'long']),
      field(2, 'b', 'string'),
      field(3, 'c', pairs('bytes')),
      field(4, 'd', arrayOf('long')),
      field(5, 'e', 'string'),
      field(6, 'f', 'long'),
      field(7, 'g', record('t', field(70, 't', 'int'))),
      field(8, 'h', 'int'),
    ]
    const records = Array.from({ length: 20 }, (_, i) => ({
      a: i % 3 === 0 ? null : BigInt(i) << 40n,
      b: `row ${i}`,
      c: new Map([
        [i, new Uint8Array(i).fill(i)],
        [i + 1, Uint8Array.of(i)],
      ]),
      d: Array.from({ length: i % 4 }, (_, j) => j * 1000),
      e: i % 2 === 0 ? 'ORC' : 'other',
      f: i * 2 ** 33,
      g: { t: i % 5 },
      h: -i,
    }))
    const { store, rows } = decodeFile(write(record('r', ...fields), records), bindings)
    const kept = [19, 3, 3, 0, 12]
    const compact = compactRows(store, Uint32Array.from(kept))
    assert.deepEqual(
      kept.map((_, row) => readRow(compact, bindings, row)),
      kept.map((row) => rows[row]),
    )
    assert.equal(compact.cellLength, 2 * kept.length + 3 + 3 + 3)
    assert.isBelow(compact.heapLength, store.heapLength)
  })
})
