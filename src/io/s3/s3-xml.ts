/**
 * The two kinds of XML that S3 answers a read with: an error, and a page of a listing. Both are flat and made by
 * machines, so elements are found by name; anything else is not understood, and says so.
 */

export interface S3ErrorBody {
  /** Such as `NoSuchKey`. */
  code?: string
  message?: string
  /** Where the bucket is, said with errors of a wrong region. */
  region?: string
  requestId?: string
  /** Said with errors of a wrong clock. */
  serverTime?: string
}

/** Empty if it is no XML of S3, such as the page of a proxy. */
export function parseErrorBody(xml: string): S3ErrorBody {
  if (!xml.includes('<Error>')) return {}
  const found = {
    code: 'Code',
    message: 'Message',
    region: 'Region',
    requestId: 'RequestId',
    serverTime: 'ServerTime',
  }
  return Object.fromEntries(
    Object.entries(found)
      .map(([field, name]) => [field, elementOf(xml, name)] as const)
      .filter(([, text]) => text !== undefined && text !== ''),
  )
}

export interface ListingPage {
  /** Whole keys, not names. */
  keys: string[]
  /** How to ask for the page after this one; undefined on the last. */
  next: string | undefined
}

/** Undefined if it is no page of a listing, or not whole. Takes a time that grows with the length of any text. */
export function parseListingPage(xml: string): ListingPage | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>')) return undefined
  // Servers that do not know the parameter send keys as they are.
  const isEncoded = elementOf(xml, 'EncodingType') === 'url'
  const keys: string[] = []
  for (let at = 0; ;) {
    const start = xml.indexOf(FILE_START, at)
    if (start === -1) break
    const end = xml.indexOf(FILE_END, start)
    const key = end === -1 ? undefined : elementOf(xml.slice(start, end), 'Key')
    if (key === undefined) return undefined
    keys.push(isEncoded ? decodeKey(key) : key)
    at = end + FILE_END.length
  }
  if (elementOf(xml, 'IsTruncated') !== 'true') return { keys, next: undefined }
  const next = elementOf(xml, 'NextContinuationToken')
  return next === undefined ? undefined : { keys, next }
}

const FILE_START = '<Contents>'
const FILE_END = '</Contents>'

/** As forms are encoded: a plus is a space. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    // Not UTF-8, so no location can name it.
    return text
  }
}

function elementOf(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`)
  if (start === -1) return undefined
  const from = start + name.length + 2
  const end = xml.indexOf(`</${name}>`, from)
  return end === -1 ? undefined : decodeEntities(xml.slice(from, end))
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi,
    (entity, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES.get(name) ?? entity
      const code = decimal === undefined ? parseInt(hex!, 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : entity
    },
  )
}
