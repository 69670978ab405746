/** Texts of rows are what each row's bytes say, in whatever order they are asked for and whatever stands beside them. */
import { assert } from 'chai'
import { RowTexts } from '../../src/manifest/row-texts.ts'

/** Rows of a heap; `gap` bytes that belong to no row stand between them. */
function textsOf(rows: readonly (string | Uint8Array)[], gap = ''): { texts: RowTexts; expected: string[] } {
  const parts = rows.map((row) => Buffer.from(row as Uint8Array))
  const between = Buffer.from(gap, 'latin1')
  const offsets = new Uint32Array(parts.length + 8)
  const lengths = new Uint32Array(parts.length + 8)
  let end = 0
  for (const [i, part] of parts.entries()) {
    offsets[i] = end
    lengths[i] = part.length
    end += part.length + between.length
  }
  const heap = Buffer.concat(parts.flatMap((part) => [part, between]))
  return {
    texts: new RowTexts(heap, offsets, lengths),
    expected: parts.map((part) => part.toString('utf8')),
  }
}

const paths = (count: number, middle = '-'): string[] =>
  Array.from({ length: count }, (_, i) => `s3://bucket/table/data/${i}${middle}${'x'.repeat(i % 7)}.parquet`)

describe('texts of rows', () => {
  const rows: [why: string, rows: (string | Uint8Array)[], gap?: string][] = [
    ['none', []],
    ['one', paths(1)],
    ['many', paths(100)],
    ['with other bytes between them', paths(100), 'other'],
    ['with binary bytes between them', paths(100), '\x80\xff\x00'],
    ['empty ones', ['', 'a', '', '', 'b', '']],
    ['longer than what is read at once', paths(40).map((path) => path.repeat(100))],
    ['characters of two, three and four bytes', paths(40, 'ü€🧊')],
    ['one of them among ASCII', [...paths(20), 'é', ...paths(20)]],
    ['bytes that are no UTF-8', Array.from({ length: 40 }, (_, i) => Uint8Array.of(97, 128 + i, 98))],
    [
      'a character that two rows share',
      [...paths(5), Uint8Array.of(0xe2, 0x82), Uint8Array.of(0xac, 97), 'b'],
    ],
    [
      'the start of a character at the end of a row',
      [...paths(5), Uint8Array.of(97, 0xe2), 'b', ...paths(5)],
    ],
  ]
  for (const [why, values, gap] of rows)
    it(why, () => {
      const { expected } = textsOf(values, gap)
      const order = expected.map((_, i) => i)
      const orders = {
        forwards: order,
        backwards: order.toReversed(),
        'every other one': order.filter((i) => i % 2 === 0),
        'twice each': order.flatMap((i) => [i, i]),
        'in leaps': order.flatMap((i) => [i, (i * 7) % order.length]),
      }
      for (const [how, asked] of Object.entries(orders)) {
        const { texts } = textsOf(values, gap)
        assert.deepEqual(
          asked.map((row) => texts.at(row)),
          asked.map((row) => expected[row]),
          how,
        )
      }
    })
})
