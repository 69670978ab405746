/**
 * One try to read a file, or a range of it, by one GET: what the headers of requests and answers say about lengths and
 * ranges, the same for all stores on HTTP. What an answer of another status means is for the store to say.
 */
import { StorageError } from '../errors.ts'
import { checkRange, checkReadSize, endsTooEarly, MAX_READ_BYTES } from './byte-range.ts'
import type { ByteRange } from './file-io.ts'
import { retryHintOf, type RetryHint } from './http-status.ts'
import {
  TransportError,
  type BodyPart,
  type HttpAnswer,
  type HttpHead,
  type HttpRequest,
  type HttpTransport,
} from './http-transport.ts'
import { Failure } from './retry.ts'

/** Of the body of an answer that says what went wrong, more of which nobody reads. */
const MAX_ERROR_BYTES = 64 * 1024

/** @throws InvalidArgumentError or StorageError for a range that makes no sense or is too long. */
export function checkRead(location: string, range: ByteRange | undefined): void {
  if (range === undefined) return
  checkRange(location, range)
  checkReadSize(location, range.end - range.start)
}

/** The header that asks for a range, which must not be empty: HTTP has no way to ask for no bytes. */
export function rangeHeader(range: ByteRange | undefined): Record<string, string> {
  return range === undefined ? {} : { range: `bytes=${range.start}-${range.end - 1}` }
}

/** An answer that is not the file: its status, and the start of what it says. */
export type Refusal = HttpAnswer

export interface FileRequest extends HttpRequest {
  /** For messages. */
  readonly what: 'read' | 'list'
  /** For messages and errors, so without what gives access: see {@link withoutSecrets}. */
  readonly location: string
  readonly range: ByteRange | undefined
  /** Of the body of a good answer; default {@link MAX_READ_BYTES}. */
  readonly maxBytes?: number
  /** Takes an encoding off that the server put on for the way; without it the body is the file whatever it says. */
  readonly decode?: (location: string, encoding: string, body: Uint8Array) => Promise<Uint8Array>
}

/**
 * The bytes asked for, out of an answer of status 200 (the whole file, whatever was asked) or 206 (the range); a Refusal
 * for any other status; a Failure for connections that broke and bodies that fell short.
 *
 * Rejects with StorageError for what another try would not change, the signal's reason if aborted.
 */
export async function readOnce(
  transport: HttpTransport,
  request: FileRequest,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | Refusal | Failure> {
  try {
    const get = (): Promise<HttpAnswer> => transport.get(request, (head) => partOf(head, request), signal)
    const answer = await get()
    if (!isFile(answer, request)) return answer
    if (request.range === undefined && isUnmeasured(answer)) checkSame(request, answer, await get())
    return isEncoded(answer, request) ? await decoded(answer, request) : checkedBytes(answer, request)
  } catch (error) {
    return failureOf(request, error)
  }
}

/** A Failure for errors that another try may not meet. @throws all others, those of connections as StorageError. */
function failureOf({ what, location }: FileRequest, error: unknown): Failure {
  const failure =
    error instanceof TransportError
      ? new StorageError(`Cannot ${what} ${location}: ${error.message}`, {
          location,
          cause: error,
          retryable: error.isTransient,
        })
      : error
  if (failure instanceof StorageError && failure.retryable) return new Failure(failure)
  throw failure
}

/** Whether another try may help, by the head of an answer. */
export function retryHint({ status, headers }: HttpHead): RetryHint {
  return retryHintOf(status, headers['retry-after'])
}

/** The header `content-range`, `bytes 0-9/100`; the range (status 416) or the size may be an asterisk. */
export function contentRangeOf({ headers }: HttpHead): Partial<ByteRange> & { size?: number } {
  const header = headers['content-range'] ?? ''
  const [, first, last, size] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(header.trim()) ?? []
  const [start, end, total] = [first, last, size].map(wholeNumber)
  return {
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end: end + 1 }),
    ...(total === undefined ? {} : { size: total }),
  }
}

function isFile(head: HttpHead, { range }: FileRequest): boolean {
  return head.status === 200 || (head.status === 206 && (range !== undefined || isWhole(head)))
}

/** Some proxies answer with a range whatever is asked; one that is all of the file will do. */
function isWhole(head: HttpHead): boolean {
  const { start, end, size } = contentRangeOf(head)
  return start === 0 && end !== undefined && end === size
}

/** Whether the body ends where the connection does: one that broke looks like one that was complete. */
function isUnmeasured({ headers }: HttpHead): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
}

/** Files never change, so a body without a length is believed if it comes twice. @throws StorageError, retryable. */
function checkSame({ what, location }: FileRequest, first: HttpAnswer, second: HttpAnswer): void {
  if (first.seen === second.seen && first.status === second.status) return
  throw new StorageError(
    `Cannot ${what} ${location}: no length was announced, and first ${first.seen} bytes came, then ${second.seen}`,
    { location, retryable: true },
  )
}

function isEncoded(head: HttpHead, { decode }: FileRequest): boolean {
  return decode !== undefined && !['', 'identity'].includes(encodingOf(head))
}

function encodingOf({ headers }: HttpHead): string {
  return (headers['content-encoding'] ?? '').trim().toLowerCase()
}

function partOf(head: HttpHead, request: FileRequest): BodyPart {
  const { what, location, range, maxBytes = MAX_READ_BYTES } = request
  const check = (kept: number): void => {
    if (kept > maxBytes)
      throw new StorageError(
        `Cannot ${what} ${location}: ${kept} bytes in one answer are more than the limit of ${maxBytes}`,
        { location },
      )
  }
  if (!isFile(head, request)) return { skip: 0, length: MAX_ERROR_BYTES, check, isOptional: true }
  if (head.status === 206 && range !== undefined) checkPart(head, request, range)
  if (range === undefined || isEncoded(head, request)) {
    check(declaredLength(head) ?? 0)
    return { skip: 0, length: undefined, check }
  }
  return { skip: head.status === 200 ? range.start : 0, length: range.end - range.start, check }
}

function checkedBytes(answer: HttpAnswer, { what, location, range }: FileRequest): Uint8Array {
  const { bytes, seen, status } = answer
  const wanted = range === undefined ? undefined : range.end - range.start
  if (bytes.length === wanted) return bytes
  const expected = status === 206 ? (wanted ?? contentRangeOf(answer).size) : declaredLength(answer)
  if (expected !== undefined && seen !== expected)
    throw new StorageError(`Cannot ${what} ${location}: ${expected} bytes were announced and ${seen} came`, {
      location,
      retryable: true,
    })
  if (range !== undefined) throw endsTooEarly(location, range, seen)
  return bytes
}

/** Lengths in headers are those of the encoded body, and so is a range that it may have been cut to. */
async function decoded(answer: HttpAnswer, { location, range, decode }: FileRequest): Promise<Uint8Array> {
  const file = await decode!(location, encodingOf(answer), answer.bytes)
  if (range === undefined) return file
  if (range.end > file.length) throw endsTooEarly(location, range, file.length)
  return file.slice(range.start, range.end)
}

/** Makes sure that a 206 is the range that was asked for: servers are known to answer with another one. */
function checkPart(head: HttpHead, request: FileRequest, range: ByteRange): void {
  const { location } = request
  const { start, end, size } = contentRangeOf(head)
  const wanted = range.end - range.start
  const isLonger = (declaredLength(head) ?? 0) > wanted
  if (start === range.start && end === range.end && !isLonger && !isEncoded(head, request)) return
  if (start === range.start && end !== undefined && end < range.end) {
    if (size === undefined || size <= end) throw endsTooEarly(location, range, size ?? end)
    throw new StorageError(
      `Cannot read bytes ${range.start} to ${range.end} of ${location}: the server stopped at ${end} of ${size}`,
      { location, retryable: true },
    )
  }
  const what = head.headers['content-range'] ?? 'no content-range'
  throw new StorageError(
    `Cannot read bytes ${range.start} to ${range.end} of ${location}: the server answered with another part, ${what}`,
    { location },
  )
}

function declaredLength({ headers }: HttpHead): number | undefined {
  return wholeNumber(headers['content-length'])
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
