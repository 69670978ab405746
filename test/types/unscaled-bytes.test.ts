import { assert } from 'chai'
import { unscaledBytes } from '../../src/types/unscaled-bytes.ts'

describe('unscaled bytes of a decimal (R13.2, B050)', () => {
  const rows: [value: bigint, hex: string][] = [
    [0n, '00'],
    [-1n, 'ff'],
    [127n, '7f'],
    [128n, '0080'],
    [-128n, '80'],
    [-129n, 'ff7f'],
    [255n, '00ff'],
    [256n, '0100'],
    [10n ** 38n - 1n, '4b3b4ca85a86c47a098a223fffffffff'],
    [-(10n ** 38n) + 1n, 'b4c4b357a5793b85f675ddc000000001'],
  ]
  for (const [value, hex] of rows)
    it(`${value}: ${hex}`, () => {
      assert.equal(Buffer.from(unscaledBytes(value)).toString('hex'), hex)
    })
})
