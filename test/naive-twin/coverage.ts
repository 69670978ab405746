/** Which predicates, types and transforms a run has met, and how often. */
import { isColumn, type Leaf, type Node } from './evaluate.ts'
import type { TableShape } from './rows.ts'
import { TIME_UNITS, type TransformKind, transformKindsOf } from './transforms.ts'
import { isFloating, type Kind } from './values.ts'

const KINDS: readonly Kind[] = [
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'decimal',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
  'string',
  'uuid',
  'fixed',
  'binary',
  'unknown',
]
const TRANSFORMS: readonly TransformKind[] = ['identity', 'bucket', 'truncate', ...TIME_UNITS]
const PARTITIONS: readonly TransformKind[] = [...TRANSFORMS, 'void', 'zorder']
const NULL_TESTS: readonly Leaf['op'][] = ['is-null', 'not-null']
const NAN_TESTS: readonly Leaf['op'][] = ['is-nan', 'not-nan']
const PREFIXES: readonly Leaf['op'][] = ['starts-with', 'not-starts-with']
const COMPARISONS: readonly Leaf['op'][] = ['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq', 'in', 'not-in']
const OPERATIONS: readonly Leaf['op'][] = [...NULL_TESTS, ...NAN_TESTS, ...COMPARISONS, ...PREFIXES]

export class Coverage {
  readonly #counts = new Map<string, number>()

  addTable({ specs }: TableShape): void {
    for (const { fields } of specs)
      for (const { column, transform } of fields) this.#add('partition', transform.kind, column.type.kind)
  }

  addFilter(node: Node, shape: TableShape): void {
    if (typeof node === 'boolean') return
    if ('nodes' in node) {
      for (const each of node.nodes) this.addFilter(each, shape)
      return
    }
    const { op, subject, transform } = node
    if (!isColumn(subject)) return
    this.#add('type', op, subject.type.kind)
    this.#add('term', op, transform.kind)
    this.#add('term type', transform.kind, subject.type.kind)
    for (const { fields } of shape.specs)
      for (const field of fields) if (field.column === subject) this.#add('under', op, field.transform.kind)
  }

  /** What can be met and was not. */
  missing(): string[] {
    const missing: string[] = []
    const need = (table: string, row: string, column: string) => {
      if (this.#count(table, row, column) === 0) missing.push(`${table}: ${row} of ${column}`)
    }
    for (const kind of KINDS) {
      for (const op of operationsOf(kind)) need('type', op, kind)
      for (const transform of transformKindsOf(kind)) {
        need('partition', transform, kind)
        need('term type', transform, kind)
      }
    }
    for (const transform of TRANSFORMS) {
      for (const op of [...NULL_TESTS, ...COMPARISONS]) {
        need('term', op, transform)
        need('under', op, transform)
      }
    }
    for (const op of PREFIXES)
      for (const table of ['term', 'under'])
        for (const transform of ['identity', 'truncate']) need(table, op, transform)
    for (const op of NAN_TESTS) need('under', op, 'identity')
    return missing
  }

  summary(): string {
    return [
      this.#table('predicates by type of the column', 'type', OPERATIONS, KINDS),
      this.#table('predicates by transform of the term', 'term', OPERATIONS, TRANSFORMS),
      this.#table('predicates by transform of a partition of the column', 'under', OPERATIONS, PARTITIONS),
      this.#table('transforms of terms by type', 'term type', TRANSFORMS, KINDS),
      this.#table('partitions by type', 'partition', PARTITIONS, KINDS),
    ].join('\n')
  }

  #add(table: string, row: string, column: string): void {
    this.#counts.set(`${table}/${row}/${column}`, this.#count(table, row, column) + 1)
  }

  #count(table: string, row: string, column: string): number {
    return this.#counts.get(`${table}/${row}/${column}`) ?? 0
  }

  #table(title: string, table: string, rows: readonly string[], columns: readonly string[]): string {
    const line = (name: string, cells: readonly string[]) =>
      name.padEnd(16) + cells.map((cell) => cell.replace('timestamp', 'ts').padStart(9)).join('')
    const counts = (row: string) => columns.map((column) => this.#count(table, row, column))
    const body = rows.map((row) =>
      line(
        row,
        counts(row).map((count) => (count === 0 ? '.' : String(count))),
      ),
    )
    return [title, line('', columns), ...body].join('\n')
  }
}

function operationsOf(kind: Kind): readonly Leaf['op'][] {
  if (kind === 'unknown') return NULL_TESTS
  const extra = isFloating(kind) ? NAN_TESTS : kind === 'string' ? PREFIXES : []
  return [...NULL_TESTS, ...COMPARISONS, ...extra]
}
