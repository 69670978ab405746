import { assert } from 'chai'
import {
  colorsFor,
  displayWidth,
  formatBytes,
  formatCount,
  pad,
  printable,
  shortenMiddle,
  shortenPath,
} from '../../src/cli/text.ts'

describe('command line: text for people', () => {
  const widths: [text: string, width: number][] = [
    ['emea', 4],
    ['東京', 4],
    ['e\u0301', 1],
    ['naïve', 5],
    ['🎉', 2],
    ['', 0],
  ]
  for (const [text, width] of widths)
    it(`'${text}' is ${width} wide`, () => {
      assert.equal(displayWidth(text), width)
      assert.equal(displayWidth(pad(text, 9, 'left')), 9)
    })

  const paths: [path: string, width: number, short: string][] = [
    ['data/day=1/a.parquet', 20, 'data/day=1/a.parquet'],
    ['data/day=1/a.parquet', 19, 'data/day…/a.parquet'],
    ['data/day=1/a.parquet', 11, '…/a.parquet'],
    ['data/00000-1-load.parquet', 10, '000…arquet'],
    ['data/東京東京東京.parquet', 13, '東京….parquet'],
  ]
  for (const [path, width, short] of paths)
    it(`${path} in ${width} columns is ${short}`, () => {
      assert.equal(shortenPath(path, width), short)
      assert.isAtMost(displayWidth(short), width)
    })

  it('shortens by columns, not by characters', () => {
    for (let width = 1; width < 12; width++)
      assert.isAtMost(displayWidth(shortenMiddle('東京/大阪/ab', width)), width)
  })

  const sizes: [bytes: number, text: string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [4715, '4.6 KiB'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [748.6 * 1024 ** 3, '748.6 GiB'],
    [Number.MAX_SAFE_INTEGER, '8.0 PiB'],
  ]
  for (const [bytes, text] of sizes)
    it(`${bytes} bytes are ${text}`, () => {
      assert.equal(formatBytes(bytes), text)
    })

  const counts: [count: number, text: string][] = [
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [-100, '-100'],
    [-1234567, '-1,234,567'],
    [Number.MAX_SAFE_INTEGER, '9,007,199,254,740,991'],
  ]
  for (const [count, text] of counts)
    it(`${count} is written ${text}`, () => {
      assert.equal(formatCount(count), text)
    })

  it('lets no file name move the cursor', () => {
    assert.equal(printable('a\u001b[2Jb\nc\u202ed'), 'a\\u001b[2Jb\\u000ac\\u202ed')
    assert.equal(printable('東京 naïve'), '東京 naïve')
  })

  it('colours terminals only, and none with NO_COLOR', () => {
    const terminal = { isTTY: true }
    assert.notEqual(colorsFor(terminal, {}).bold('x'), 'x')
    assert.equal(colorsFor(terminal, { NO_COLOR: '1' }).bold('x'), 'x')
    assert.equal(colorsFor({}, { CI: 'true' }).bold('x'), 'x')
  })
})
