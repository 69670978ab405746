/**
 * Compiling a writer schema into a cursor plan: a flat `Int32Array` program that `cursor.ts` runs over blocks.
 *
 * The caller says which fields it wants, by id and by name, and into which column each goes ({@link FieldBinding});
 * everything else becomes a skip. Fields are found by id; in a file without any ids, by name. The program holds
 * no pointers to the schema except for odd shapes (unions of several types, nested arrays), which are skipped by a
 * walk over their schema node.
 *
 * Why data and not generated code or closures: one static function stays hot for every schema, needs no
 * `new Function`, and costs half as much to build; measured at the same speed.
 */
import { CorruptFileError } from '../errors.ts'
import type { AvroField, AvroRecord, AvroSchema } from './schema.ts'
import { unwrapOptional } from './schema.ts'

/** The column a field goes to. Numbers index the arrays of that kind in the column store. */
export type Sink =
  | { readonly kind: 'uint8' | 'int32' | 'float64' | 'int64' | 'bytes'; readonly column: number }
  /**
   * A string out of a short list, compared without case; stored as its number in the list. Others are numbered after
   * the list in the store's `otherSymbols`.
   */
  | { readonly kind: 'symbol'; readonly column: number; readonly symbols: readonly string[] }
  /** `keys`: array<int> to cell keys; `numbers`: array<long> to cell values; the others map<int, long | bytes>. */
  | {
      readonly kind: 'cells'
      readonly column: number
      readonly of: 'keys' | 'numbers' | 'number-map' | 'bytes-map'
    }
  /** A map<int, long | bytes> of which each wanted key has a column of its own; `column` numbers the maps of its kind. */
  | { readonly kind: 'keyed'; readonly column: number; readonly of: 'number-map' | 'bytes-map' }
  /** A record kept as the number of its raw encoding. */
  | { readonly kind: 'tuple' }
  /** A record whose own fields are bound. */
  | { readonly kind: 'record'; readonly fields: readonly FieldBinding[] }
  /** An array of records, one child row each; `column` (of kind cells) holds first child row and count. */
  | { readonly kind: 'rows'; readonly column: number; readonly fields: readonly FieldBinding[] }

export interface FieldBinding {
  readonly id: number
  /** Names to look for in files without ids, newest first. */
  readonly names: readonly string[]
  readonly sink: Sink
  /** Bit of the column in `nulls`, or -1 for a field that must be there and not be null. */
  readonly nullBit: number
}

export interface CursorPlan {
  readonly code: Int32Array
  /** Schema nodes that skips and odd maps walk. */
  readonly nodes: readonly AvroSchema[]
  /** Symbol lists, as lower-case bytes. */
  readonly symbols: readonly (readonly Uint8Array[])[]
  /** Null bits of the columns that the writer's schema lacks. */
  readonly absent: number
  /** Of the records behind the rows sink, if the schema has one. */
  readonly child: CursorPlan | undefined
  /** The type behind the tuple sink, if the schema has one. */
  readonly tupleSchema: AvroSchema | undefined
  /** Fields that `PRESENT` names. */
  readonly fields: readonly string[]
}

/** Operations; operands follow the operation in the program. */
export const OP = {
  /** End of the record. */
  END: 0,
  SKIP_VARINT: 1,
  /** A length and so many bytes. */
  SKIP_BYTES: 2,
  /** n bytes. */
  SKIP_FIXED: 3,
  /** Blocks of varints. */
  SKIP_VARINTS: 4,
  /** Blocks of pairs of varints. */
  SKIP_NUMBER_MAP: 5,
  /** Blocks of varint and bytes. */
  SKIP_BYTES_MAP: 6,
  /** Node number: anything else. */
  SKIP_NODE: 7,
  /** Byte of the null branch, byte of the other, jump when null, null mask (0: not bound). */
  OPTIONAL: 8,
  /** Column. */
  UINT8: 9,
  INT32: 10,
  FLOAT64: 11,
  INT64: 12,
  BYTES: 13,
  /** Column, size. */
  FIXED: 14,
  /** Column, number of the symbol list. */
  SYMBOL: 15,
  TUPLE_BEGIN: 16,
  TUPLE_END: 17,
  /** Column. */
  KEYS: 18,
  NUMBERS: 19,
  NUMBER_MAP: 20,
  BYTES_MAP: 21,
  /** Column, node number of the items: key-value records of an unusual shape. */
  ODD_NUMBER_MAP: 22,
  ODD_BYTES_MAP: 23,
  /** Column: records of the child plan. */
  ROWS: 24,
  /** A boolean, one byte. */
  BOOLEAN: 26,
  /** Byte of the branch that must be taken, field number: a value where null is not allowed. */
  PRESENT: 27,
  /** Column of the kind; the last two with the node number of the items. */
  KEYED_NUMBERS: 28,
  KEYED_BYTES: 29,
  ODD_KEYED_NUMBERS: 30,
  ODD_KEYED_BYTES: 31,
} as const

/** For key-value records as the specification has them, and for others. */
const MAP_OPS = {
  cells: {
    'number-map': [OP.NUMBER_MAP, OP.ODD_NUMBER_MAP],
    'bytes-map': [OP.BYTES_MAP, OP.ODD_BYTES_MAP],
  },
  keyed: {
    'number-map': [OP.KEYED_NUMBERS, OP.ODD_KEYED_NUMBERS],
    'bytes-map': [OP.KEYED_BYTES, OP.ODD_KEYED_BYTES],
  },
} as const

/**
 * Compiles a plan.
 *
 * @param schema the writer's schema
 * @param bindings the wanted fields
 * @param byName true for a file whose fields carry no ids
 * @throws CorruptFileError when a bound field has a type that its column cannot take, or a required one is missing
 */
export function compileCursorPlan(
  schema: AvroSchema,
  bindings: readonly FieldBinding[],
  byName: boolean,
  location: string,
): CursorPlan {
  if (schema.type !== 'record')
    throw new CorruptFileError(`Cannot read ${location}: its Avro schema is a ${schema.type}, not a record`, {
      location,
    })
  return new Compiler(byName, location).compile(schema, bindings)
}

class Compiler {
  readonly #byName: boolean
  readonly #location: string
  readonly #code: number[] = []
  /** Numbered in the order of insertion. */
  readonly #nodes = new Map<AvroSchema, number>()
  readonly #symbols: (readonly Uint8Array[])[] = []
  readonly #fields: string[] = []
  #tupleSchema: AvroSchema | undefined
  #absent = 0
  #child: CursorPlan | undefined

  constructor(byName: boolean, location: string) {
    this.#byName = byName
    this.#location = location
  }

  compile(schema: AvroRecord, bindings: readonly FieldBinding[], path = ''): CursorPlan {
    this.#record(schema, bindings, path)
    this.#code.push(OP.END)
    return {
      code: Int32Array.from(this.#code),
      nodes: [...this.#nodes.keys()],
      symbols: this.#symbols,
      absent: this.#absent,
      child: this.#child,
      tupleSchema: this.#tupleSchema,
      fields: this.#fields,
    }
  }

  #record(schema: AvroRecord, bindings: readonly FieldBinding[], path: string): void {
    const unseen = new Set(bindings)
    for (const field of schema.fields) {
      const binding = bindings.find((candidate) => unseen.has(candidate) && this.#isField(field, candidate))
      if (binding === undefined) {
        this.#skip(field.type)
        continue
      }
      unseen.delete(binding)
      this.#bound(field.type, binding, `${path}${binding.names[0]}`)
    }
    for (const binding of unseen) this.#missing(binding, path)
  }

  #isField(field: AvroField, binding: FieldBinding): boolean {
    return this.#byName ? binding.names.includes(field.name) : field.id === binding.id
  }

  #missing(binding: FieldBinding, path: string): void {
    if (binding.sink.kind === 'tuple') return
    if (binding.nullBit < 0)
      throw this.#bad(`the required field ${path}${binding.names[0]} (id ${binding.id}) is missing`)
    this.#absent |= 1 << binding.nullBit
  }

  #bound(type: AvroSchema, binding: FieldBinding, path: string): void {
    if (binding.sink.kind === 'tuple') {
      // The branch byte of an optional record is part of the raw encoding.
      this.#tupleSchema = type
      this.#code.push(OP.TUPLE_BEGIN)
      this.#skip(type)
      this.#code.push(OP.TUPLE_END)
      return
    }
    const optional = unwrapOptional(type)
    if (optional === undefined) {
      if (type.type !== 'union' || type.branches.length !== 1)
        throw this.#bad(`field ${path} is a union of several types`)
      // A union of one branch still writes the branch number.
      this.#code.push(OP.SKIP_VARINT)
      this.#value(type.branches[0], binding, path)
      return
    }
    if (optional.nullBranch < 0) {
      this.#value(optional.schema, binding, path)
      return
    }
    if (binding.nullBit < 0) {
      this.#code.push(OP.PRESENT, (1 - optional.nullBranch) * 2, this.#fields.push(path) - 1)
      this.#value(optional.schema, binding, path)
      return
    }
    const jumpAt = this.#optional(optional.nullBranch, 1 << binding.nullBit)
    this.#value(optional.schema, binding, path)
    this.#code[jumpAt] = this.#code.length
  }

  /** Emits the branch test; gives where the jump target goes. */
  #optional(nullBranch: number, mask: number): number {
    this.#code.push(OP.OPTIONAL, nullBranch * 2, (1 - nullBranch) * 2, 0, mask)
    return this.#code.length - 2
  }

  #value(type: AvroSchema, binding: FieldBinding, path: string): void {
    const { sink } = binding
    const code = this.#code
    const wrong = (): CorruptFileError =>
      this.#bad(`field ${path} (id ${binding.id}) has the type ${type.type}, which it cannot have`)
    switch (sink.kind) {
      case 'uint8':
        if (type.type === 'boolean') code.push(OP.BOOLEAN, sink.column)
        else if (isInteger(type)) code.push(OP.UINT8, sink.column)
        else throw wrong()
        return
      case 'int32':
        if (!isInteger(type)) throw wrong()
        code.push(OP.INT32, sink.column)
        return
      case 'float64':
        if (!isInteger(type)) throw wrong()
        code.push(OP.FLOAT64, sink.column)
        return
      case 'int64':
        if (!isInteger(type)) throw wrong()
        code.push(OP.INT64, sink.column)
        return
      case 'bytes':
        if (isSized(type)) code.push(OP.BYTES, sink.column)
        else if (type.type === 'fixed') code.push(OP.FIXED, sink.column, type.size)
        else throw wrong()
        return
      case 'symbol':
        if (!isSized(type)) throw wrong()
        code.push(OP.SYMBOL, sink.column, this.#symbols.length)
        this.#symbols.push(sink.symbols.map((symbol) => new TextEncoder().encode(symbol)))
        return
      case 'tuple':
        return
      case 'record':
        if (type.type !== 'record') throw wrong()
        this.#record(type, sink.fields, `${path}.`)
        return
      case 'rows':
        if (type.type !== 'array' || type.items.type !== 'record') throw wrong()
        this.#child = new Compiler(this.#byName, this.#location).compile(type.items, sink.fields, `${path}.`)
        code.push(OP.ROWS, sink.column)
        return
      case 'cells':
      case 'keyed':
        if (type.type !== 'array') throw wrong()
        if (sink.of === 'keys' || sink.of === 'numbers') {
          if (!isInteger(type.items)) throw wrong()
          code.push(sink.of === 'keys' ? OP.KEYS : OP.NUMBERS, sink.column)
        } else this.#map(type.items, sink.kind, sink.of, sink.column, wrong)
    }
  }

  #map(
    items: AvroSchema,
    kind: 'cells' | 'keyed',
    of: 'number-map' | 'bytes-map',
    column: number,
    wrong: () => CorruptFileError,
  ): void {
    const code = this.#code
    const pair = pairOf(items)
    if (pair === undefined) throw wrong()
    const numbers = of === 'number-map'
    const [plain, odd] = MAP_OPS[kind][of]
    const keyAt = keyPosition(pair)
    if (pair === items && keyAt === 0 && isPair(items, numbers ? isInteger : isSized)) {
      code.push(plain, column)
      return
    }
    const key = unwrapOptional(pair.fields[keyAt].type)?.schema
    const value = unwrapOptional(pair.fields[1 - keyAt].type)?.schema
    if (key === undefined || !isInteger(key) || value === undefined) throw wrong()
    if (numbers ? !isInteger(value) : !isSized(value) && value.type !== 'fixed') throw wrong()
    code.push(odd, column, this.#node(items))
  }

  #skip(type: AvroSchema): void {
    const code = this.#code
    switch (type.type) {
      case 'null':
        return
      case 'boolean':
        code.push(OP.SKIP_FIXED, 1)
        return
      case 'int':
      case 'long':
      case 'enum':
        code.push(OP.SKIP_VARINT)
        return
      case 'float':
        code.push(OP.SKIP_FIXED, 4)
        return
      case 'double':
        code.push(OP.SKIP_FIXED, 8)
        return
      case 'fixed':
        code.push(OP.SKIP_FIXED, type.size)
        return
      case 'bytes':
      case 'string':
        code.push(OP.SKIP_BYTES)
        return
      case 'record':
        if (isFlat(type)) for (const field of type.fields) this.#skip(field.type)
        else code.push(OP.SKIP_NODE, this.#node(type))
        return
      case 'array':
        if (isInteger(type.items)) code.push(OP.SKIP_VARINTS)
        else if (isPair(type.items, isInteger)) code.push(OP.SKIP_NUMBER_MAP)
        else if (isPair(type.items, isSized)) code.push(OP.SKIP_BYTES_MAP)
        else code.push(OP.SKIP_NODE, this.#node(type))
        return
      case 'map':
        code.push(OP.SKIP_NODE, this.#node(type))
        return
      case 'union': {
        const optional = unwrapOptional(type)
        if (optional === undefined) {
          code.push(OP.SKIP_NODE, this.#node(type))
          return
        }
        const jumpAt = this.#optional(optional.nullBranch, 0)
        this.#skip(optional.schema)
        code[jumpAt] = code.length
      }
    }
  }

  #node(type: AvroSchema): number {
    const known = this.#nodes.get(type)
    if (known !== undefined) return known
    this.#nodes.set(type, this.#nodes.size)
    return this.#nodes.size - 1
  }

  #bad(why: string): CorruptFileError {
    return new CorruptFileError(`Cannot read ${this.#location}: in its Avro schema ${why}`, {
      location: this.#location,
    })
  }
}

function isInteger(type: AvroSchema): boolean {
  return type.type === 'int' || type.type === 'long'
}

function isSized(type: AvroSchema): boolean {
  return type.type === 'bytes' || type.type === 'string'
}

/** The key-value record behind the items of an array; also when an item may be null. */
export function pairOf(items: AvroSchema): AvroRecord | undefined {
  const pair = unwrapOptional(items)?.schema
  return pair?.type === 'record' && pair.fields.length >= 2 ? pair : undefined
}

/** Where the key stands in a key-value record: the field with the lower id, or the one called so. */
export function keyPosition(items: AvroRecord): number {
  const [first, second] = items.fields
  if (first.id !== undefined && second.id !== undefined) return first.id < second.id ? 0 : 1
  return second.name === 'key' ? 1 : 0
}

/** A record of an integer and one value, in this order. */
function isPair(type: AvroSchema, isValue: (type: AvroSchema) => boolean): boolean {
  return (
    type.type === 'record' &&
    type.fields.length === 2 &&
    isInteger(type.fields[0].type) &&
    isValue(type.fields[1].type)
  )
}

/** A record that can be unrolled into the program: no named type that leads back to it, and not deeply nested. */
function isFlat(type: AvroRecord, depth = 0): boolean {
  if (depth > 8) return false
  return type.fields.every(({ type: inner }) => {
    const optional = unwrapOptional(inner)
    const core = optional === undefined ? inner : optional.schema
    return core.type !== 'record' || isFlat(core, depth + 1)
  })
}
