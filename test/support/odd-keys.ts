/** Keys of objects that are easily harmed on their way: by decoding, encoding twice, cutting or tidying. */
export const ODD_KEYS: readonly string[] = [
  'odd/a b/c d',
  'odd/part=x%2Fy/100%/%',
  'odd/a#b?c=d&e',
  'odd/plus+plus/a=b',
  'odd//b///c',
  'odd/a folder/',
  '/leading',
  'odd/a/../b/./c',
  'odd/Grüße/日本/\u{1f9ca}',
  'odd/e\u0301 and \u00e9',
  'odd/(it\'s)!*~@:;,$[]{}|\\^`"<>',
  'odd/line\nbreak and\ttab',
]
