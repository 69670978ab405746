import { assert } from 'chai'
import { UsageError } from '../../src/cli/failure.ts'
import { parseFilterOption } from '../../src/cli/filter-option.ts'
import { formatExpression } from '../../src/index.ts'
import { thrown } from '../support/rejection.ts'

describe('command line: --filter', () => {
  const filters: [text: string, means: string, why: string][] = [
    ["region='emea' and amount>500", "region = 'emea' AND amount > 500", 'SQL-like text'],
    ['{"type":"eq","term":"region","value":"emea"}', "region = 'emea'", 'expression JSON'],
    ['\n  {"type":"lt","term":"id","value":9007199254740993}\n', 'id < 9007199254740993', 'a file of JSON'],
    ["\n region = 'emea'\n", "region = 'emea'", 'a file of text'],
    ['TRUE', 'true', 'all rows'],
    [' false ', 'false', 'no row; the text of JSON is the same'],
    ['NOT (a < 1 OR b < 1)', 'NOT (a < 1 OR b < 1)', 'as written: NOT is pushed down when it is bound'],
  ]
  for (const [text, means, why] of filters)
    it(`${JSON.stringify(text)}: ${why}`, () => {
      assert.equal(formatExpression(parseFilterOption(text)), means)
    })

  const long = `region IN (${Array(20).fill("'emea'").join(', ')})`
  const excerpts: [text: string, excerpt: string[] | undefined, why: string][] = [
    ['a = 1 AND b >> 2', ['a = 1 AND b >> 2', '             ^'], 'the place'],
    ['a = 1 AND', ['a = 1 AND', '         ^'], 'the end'],
    ['a = 1\n  AND b ! 2\n  AND c = 3', ['  AND b ! 2', '        ^'], 'the line of the place'],
    ["名前 = '東京' x", ["名前 = '東京' x", '              ^'], 'wide characters take two columns'],
    ["a = '\u001b[2J' x", ["a = '\\u001b[2J' x", '                ^'], 'control characters are written out'],
    [
      `${long} x ${long}`,
      ["…'emea', 'emea', 'emea', 'emea', 'emea') x region IN ('emea', 'emea', '…", ' '.repeat(41) + '^'],
      'what is near the place, of a long filter',
    ],
    ['{"type": "eq", ', undefined, 'JSON is not shown'],
    ['{"type": "and"}', undefined, 'nor is JSON that is no expression'],
  ]
  for (const [text, lines, why] of excerpts)
    it(`shows where ${JSON.stringify(text.slice(0, 30))} is not understood: ${why}`, () => {
      const error = thrown(() => parseFilterOption(text))
      assert.instanceOf(error, UsageError)
      assert.equal(error.excerpt, lines?.map((line) => `  ${line}\n`).join(''))
      assert.notInclude(error.message, '\n')
    })
})
