/** One page of ListObjectsV2, as S3 writes it. */
import { element, S3Refusal, XML_HEAD } from './s3-refusal.ts'

export interface ListingQuery {
  readonly bucket: string
  /** Decoded. */
  readonly parameters: ReadonlyMap<string, string>
  /** The most that one page may hold, whatever the client wants. */
  readonly pageSize: number
}

export interface Listed {
  readonly size: number
  /** In quotes. */
  readonly etag: string
}

/** @param keys - All of the bucket, in the order of their UTF-8 bytes. */
export function listingXml(
  { bucket, parameters, pageSize }: ListingQuery,
  keys: readonly string[],
  objectOf: (key: string) => Listed,
): string {
  const prefix = parameters.get('prefix') ?? ''
  const delimiter = parameters.get('delimiter') ?? ''
  const startAfter = parameters.get('start-after') ?? ''
  const wanted = parameters.get('max-keys') ?? '1000'
  if (!/^\d+$/.test(wanted))
    throw new S3Refusal(400, 'InvalidArgument', 'Provided max-keys is not an integer')
  const most = Math.min(Number(wanted), pageSize)
  const encoding = parameters.get('encoding-type')
  if (encoding !== undefined && encoding !== 'url')
    throw new S3Refusal(400, 'InvalidArgument', 'Invalid Encoding Method specified in Request')
  const write = encoding === 'url' ? encodeName : (name: string) => name

  const token = parameters.get('continuation-token')
  // Everything up to here has been listed: a key, or a common prefix with all that is below it.
  const done = token === undefined ? undefined : readToken(token)
  const contents: string[] = []
  const folders: string[] = []
  let last: string | undefined
  let isTruncated = false
  for (const key of keys) {
    if (!key.startsWith(prefix) || (startAfter !== '' && !isAfter(key, startAfter))) continue
    const cut = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    const name = cut === -1 ? key : key.slice(0, cut + delimiter.length)
    if (name === last || (done !== undefined && !isAfter(name, done))) continue
    if (contents.length + folders.length >= most) {
      isTruncated = most > 0
      break
    }
    last = name
    if (cut !== -1) folders.push(name)
    else {
      const { size, etag } = objectOf(key)
      contents.push(
        `<Contents>${element('Key', write(key))}<LastModified>2026-01-01T00:00:00.000Z</LastModified>` +
          `${element('ETag', etag)}<Size>${size}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
      )
    }
  }
  return (
    `${XML_HEAD}<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
    `${element('Name', bucket)}${element('Prefix', write(prefix))}` +
    (delimiter === '' ? '' : element('Delimiter', write(delimiter))) +
    (startAfter === '' ? '' : element('StartAfter', write(startAfter))) +
    (token === undefined ? '' : element('ContinuationToken', token)) +
    (isTruncated ? element('NextContinuationToken', writeToken(last!)) : '') +
    (encoding === undefined ? '' : element('EncodingType', encoding)) +
    `<KeyCount>${contents.length + folders.length}</KeyCount><MaxKeys>${wanted}</MaxKeys>` +
    `<IsTruncated>${isTruncated}</IsTruncated>${contents.join('')}` +
    folders.map((name) => `<CommonPrefixes>${element('Prefix', write(name))}</CommonPrefixes>`).join('') +
    '</ListBucketResult>'
  )
}

/** Sorts as S3 does: by the bytes of UTF-8, which is not the order of JavaScript strings. */
export function sortKeys(keys: Iterable<string>): string[] {
  return Array.from(keys, (key) => ({ key, bytes: Buffer.from(key) }))
    .sort((a, b) => a.bytes.compare(b.bytes))
    .map(({ key }) => key)
}

function isAfter(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0
}

/** As S3 encodes names: a form, so that a space is a plus sign; the slash stays. */
function encodeName(name: string): string {
  return new URLSearchParams([['', name]]).toString().slice(1).replaceAll('%2F', '/')
}

// Opaque, so that no client makes its own; with signs that a query must encode.
function writeToken(name: string): string {
  return `1/${Buffer.from(name).toString('base64')}==`
}

function readToken(token: string): string {
  const match = /^1\/(.+)==$/.exec(token)
  if (match === null)
    throw new S3Refusal(400, 'InvalidArgument', 'The continuation token provided is incorrect')
  return Buffer.from(match[1], 'base64').toString()
}
