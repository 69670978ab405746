import { assert } from 'chai'
import fc from 'fast-check'
import { formatJson, parseJson } from '../../src/metadata/lossless-json.ts'

const NUL = '\u0000'

describe('parseJson', () => {
  const rows: [text: string, value: unknown, reason: string][] = [
    ['3051729675574597004', 3_051_729_675_574_597_004n, 'R13.12, B123: a snapshot id, at the top'],
    [
      '{"a":[1,{"b":9223372036854775807}]}',
      { a: [1, { b: 2n ** 63n - 1n }] },
      'B123: the greatest long, nested',
    ],
    ['-9223372036854775808', -(2n ** 63n), 'B123: the least long'],
    ['9007199254740991', 2 ** 53 - 1, 'the greatest exact number stays a number'],
    ['9007199254740992', 2n ** 53n, 'the first beyond is a bigint'],
    ['9007199254740993', 2n ** 53n + 1n, 'B123: the first that a double cannot hold'],
    ['-9007199254740993', -(2n ** 53n) - 1n, 'B123: negative'],
    ['[ 9007199254740993 \n, 1]', [2n ** 53n + 1n, 1], 'white space around it'],
    ['1234567890123456.5', 1_234_567_890_123_456.5, 'a point makes a double'],
    ['9007199254740993.0', 9_007_199_254_740_992, 'also with no fraction'],
    ['0.12345678901234567890', 0.123_456_789_012_345_68, 'digits after a point are no integer'],
    ['12345678901234567890e0', 12_345_678_901_234_567_000, 'an exponent makes a double'],
    ['1e400', Infinity, 'as JSON.parse reads it'],
    ['[-0, 9007199254740993]', [-0, 2n ** 53n + 1n], 'minus zero stays minus zero'],
    ['"9007199254740993"', '9007199254740993', 'a string stays a string'],
    ['{"9007199254740993":1}', { '9007199254740993': 1 }, 'a key stays a key'],
    [
      '["a\\"9007199254740993", "\\\\", 9007199254740993]',
      ['a"9007199254740993', '\\', 2n ** 53n + 1n],
      'escapes',
    ],
    ['[": 9007199254740993,"]', [': 9007199254740993,'], 'a string that looks like JSON'],
    [
      '["\\u0000n9007199254740993", 9007199254740993]',
      [`${NUL}n9007199254740993`, 2n ** 53n + 1n],
      'a string that looks like our mark',
    ],
    [
      '["\\u0000s", "\\u0000", "\\u0000\\u0000n1", 9007199254740993]',
      [`${NUL}s`, NUL, `${NUL}${NUL}n1`, 2n ** 53n + 1n],
      'strings that look like our other mark',
    ],
    [
      '{"\\u0000n1" : "\\u0000n2", "x": 9007199254740993}',
      { [`${NUL}n1`]: `${NUL}n2`, x: 2n ** 53n + 1n },
      'keys that look like our mark',
    ],
    ['"\\u0000n9007199254740993"', `${NUL}n9007199254740993`, 'our mark, and no number'],
    [
      '{"__proto__":{"a":9007199254740993}}',
      JSON.parse('{"__proto__":{"a":0}}'),
      'the key __proto__ is a key',
    ],
  ]
  for (const [text, value, reason] of rows)
    it(`${JSON.stringify(text.slice(0, 60))}: ${reason}`, () => {
      const parsed = parseJson(text)
      if (text.includes('__proto__')) {
        assert.deepEqual(Object.keys(parsed as object), ['__proto__'])
        assert.notProperty({}, 'a')
      } else assert.deepStrictEqual(parsed, value)
    })

  it('an integer of a million digits is left to JSON.parse', () => {
    assert.equal(parseJson('9'.repeat(1_000_000)), Infinity)
  })

  it('any nesting that JSON.parse takes', () => {
    const text = `${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`
    let inner = parseJson(text)
    while (Array.isArray(inner)) inner = inner[0] as unknown
    assert.equal(inner, 2n ** 53n + 1n)
  })

  it('B175: a string value of 20 MB', () => {
    const long = 'x'.repeat(20_000_000)
    const parsed = parseJson(`{"s":"${long}","id":9007199254740993}`) as { s: string; id: bigint }
    assert.equal(parsed.s.length, long.length)
    assert.equal(parsed.id, 2n ** 53n + 1n)
  })

  const broken: [text: string, offset: number, reason: string][] = [
    ['', 0, 'nothing'],
    ['{"a":x}', 5, 'no value'],
    ['{"a":1,}', 7, 'a comma too many in an object'],
    ['[1,]', 3, 'a comma too many in an array'],
    ['{a:1}', 1, 'a key without quotes'],
    ['{"a" 1}', 5, 'no colon'],
    ['[1 2]', 3, 'no comma'],
    ['[1}', 2, 'the wrong bracket'],
    ['{"a":1', 6, 'it ends early'],
    ['"a', 2, 'a string that never ends'],
    ['"a\nb"', 2, 'a line break in a string'],
    ['"\\x"', 1, 'an escape nobody knows'],
    ['1 2', 2, 'two values'],
    ['012345678901234567890', 1, 'a leading zero'],
    ['[9007199254740993 9007199254740993]', 18, 'no comma between big integers'],
    ['{9007199254740993:1}', 1, 'a big integer as a key'],
    ['{9007199254740993}', 1, 'a big integer in an object'],
    ['-', 0, 'a lone sign'],
    ['[9007199254740993-1]', 17, 'a sum'],
    ['[1.]', 2, 'a point without digits'],
  ]
  for (const [text, offset, reason] of broken)
    it(`refuses ${JSON.stringify(text)}: ${reason}`, () => {
      assert.throws(() => parseJson(text), SyntaxError, `at offset ${offset} (line `)
    })

  it('an error names line and column', () => {
    assert.throws(
      () => parseJson('{\n  "id": 9007199254740993,\n  "a": ?\n}'),
      'Unexpected "?" at offset 35 (line 3, column 8)',
    )
  })

  it('reads every JSON value as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify([value, 1], null, indent)
        // A big integer beside it sends the text through the marking pass.
        const withBig = parseJson(`[${text},9007199254740993]`) as unknown[]
        if (!/\d{16}/.test(text)) assert.deepStrictEqual(withBig[0], JSON.parse(text))
        assert.deepStrictEqual(JSON.parse(formatJson(withBig[0])), JSON.parse(text))
      }),
    )
  })

  it('accepts exactly what JSON.parse accepts', () => {
    const piece = fc.constantFrom(
      ...'[]{},:"\\ 0-.e1u'.split(''),
      '9007199254740993',
      '"a"',
      'true',
      '\\u0000',
      'null',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        if (valid) parseJson(text)
        else assert.throws(() => parseJson(text), SyntaxError, /at offset \d+ \(line/)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('formatJson', () => {
  it('B123: writes bigint as a bare integer', () => {
    assert.equal(
      formatJson({ id: 3_051_729_675_574_597_004n, list: [-1n] }),
      '{"id":3051729675574597004,"list":[-1]}',
    )
    assert.equal(
      formatJson({ id: 1n, list: [], none: {} }, 2),
      '{\n  "id": 1,\n  "list": [],\n  "none": {}\n}',
    )
  })

  it('keys are quoted, short and long ones, again and again', () => {
    for (let time = 0; time < 2; time++) {
      const value = Object.fromEntries(
        ['a', '"', '\n', 'ü', '"'.repeat(100), ...Array.from({ length: 1200 }, (_, i) => `k${i}`)].map(
          (key, i) => [key, i],
        ),
      )
      assert.equal(formatJson(value), JSON.stringify(value))
    }
  })

  it('keeps minus zero', () => {
    assert.isTrue(Object.is(parseJson(formatJson(-0)), -0))
  })

  it('agrees with JSON.stringify where there is no bigint', () => {
    const value = {
      undef: undefined,
      fn: () => 1,
      holes: [undefined, NaN, Infinity, null],
      date: new Date(0),
      self: { toJSON: (key: string) => `json of ${key}` },
      text: 'a"\u2028\ud800',
    }
    for (const indent of [0, 2]) assert.equal(formatJson(value, indent), JSON.stringify(value, null, indent))
    assert.equal(formatJson(undefined), 'null')
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), (json, indent) => {
        // Through JSON once, which takes the sign off minus zero.
        const plain: unknown = JSON.parse(JSON.stringify(json))
        assert.equal(formatJson(plain, indent), JSON.stringify(plain, null, indent))
      }),
    )
  })

  it('what it writes parses back', () => {
    const leaf = fc.oneof(fc.bigInt({ min: 2n ** 53n }), fc.string(), fc.integer(), fc.boolean())
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), leaf)), (value) => {
        const restored = parseJson(formatJson(value))
        assert.equal(formatJson(restored), formatJson(value))
      }),
    )
  })
})
