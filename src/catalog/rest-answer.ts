/**
 * What an answer of a catalog means: its JSON, or an error of ours in one sentence. The texts of servers go into
 * messages, so secrets that they may repeat are taken out and long ones are cut.
 *
 * | status                  | becomes                                                            |
 * | ----------------------- | ------------------------------------------------------------------ |
 * | 404                     | NotFoundError                                                      |
 * | 401, 403, 419           | StorageError that says which options to look at                    |
 * | 406, 501                | UnsupportedFeatureError                                            |
 * | a busy server's         | StorageError, retryable (`isBusyStatus`)                           |
 * | anything else           | StorageError                                                       |
 */
import { NotFoundError, StorageError, UnsupportedFeatureError, type IcebergError } from '../errors.ts'
import { oneLine } from '../io/one-line.ts'
import { parseJson } from '../metadata/lossless-json.ts'
import { decodeMetadataBytes } from '../metadata/metadata-bytes.ts'
import { isJsonObject, type JsonObject } from '../types/json-object.ts'
import type { HttpAnswer } from './http-call.ts'

export interface AnswerContext {
  /** The start of every message: `Cannot load table db.orders from the catalog http://host`. */
  readonly purpose: string
  /** What must not be in a message. */
  readonly secrets: readonly string[]
  /** What to look at if permission is refused: "the catalog's token". */
  readonly credentialHint: string
}

/** Shorter ones are too likely to be a part of something else. */
const MIN_SECRET_LENGTH = 4

/**
 * The object in a good answer. 64-bit integers are exact (see `lossless-json.ts`).
 *
 * @throws StorageError if it is not a JSON object.
 */
export function readJsonObject(answer: HttpAnswer, { purpose }: AnswerContext): JsonObject {
  const refuse = (why: string): StorageError => new StorageError(`${purpose}: the answer is ${why}`)
  if (looksLikePage(answer))
    throw refuse("a web page; is the uri that of an Iceberg REST catalog's API, without /v1?")
  let json: unknown
  try {
    json = parseJson(decodeMetadataBytes(answer.body))
  } catch (error) {
    // Not the error itself as cause: it has one that shows a part of the text.
    throw refuse(`not valid JSON (${(error as Error).message})`)
  }
  if (!isJsonObject(json)) throw refuse('not a JSON object')
  return json
}

function looksLikePage({ headers, body }: HttpAnswer): boolean {
  const type = headers.get('content-type') ?? ''
  return /\bhtml\b/i.test(type) || /^\s*</.test(Buffer.from(body.subarray(0, 64)).toString('latin1'))
}

/** The error for the answer of a server that is busy (`isBusyStatus`). */
export function busyError(answer: HttpAnswer, { purpose, secrets }: AnswerContext): StorageError {
  const { text } = describeAnswer(answer, secrets)
  return new StorageError(`${purpose}: the server answered ${text}`, { retryable: true })
}

/** The error for any other answer that is not a good one. */
export function answerError(answer: HttpAnswer, context: AnswerContext): IcebergError {
  const { status } = answer
  const { purpose, credentialHint } = context
  const said = describeAnswer(answer, context.secrets)
  const message = `${purpose}: the server answered ${said.text}`
  if (status === 404)
    return new NotFoundError(
      said.isOfCatalog ? message : `${message}; is the uri that of an Iceberg REST catalog, without /v1?`,
    )
  if (status === 401 || status === 403 || status === 419)
    return new StorageError(`${message}; check ${credentialHint}`)
  if (status === 406 || status === 501) return new UnsupportedFeatureError(message)
  return new StorageError(message)
}

/**
 * Status, type and message: of the catalog (`{"error": {"message", "type", "code"}}`), of OAuth2
 * (`{"error", "error_description"}`), or the status alone.
 */
function describeAnswer(
  answer: HttpAnswer,
  secrets: readonly string[],
): { text: string; isOfCatalog: boolean } {
  const { status, statusText } = answer
  const words = (...parts: unknown[]): string =>
    parts.filter((part) => typeof part === 'string' && part !== '').join(': ')
  const error = errorIn(answer)
  if (isJsonObject(error)) {
    const what = words(shown(error['type'], secrets), shown(error['message'], secrets))
    return { text: `${status} ${what === '' ? statusText : what}`.trim(), isOfCatalog: true }
  }
  const plain = `${status} ${statusText}`.trim()
  if (typeof error === 'string') return { text: `${plain}: ${shown(error, secrets)}`, isOfCatalog: false }
  return { text: looksLikePage(answer) ? `${plain} and a web page` : plain, isOfCatalog: false }
}

function errorIn({ body }: HttpAnswer): unknown {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
  if (!isJsonObject(json)) return undefined
  const { error, error_description: description, message } = json
  if (typeof error === 'string') return typeof description === 'string' ? `${error}: ${description}` : error
  return error ?? message
}

function shown(text: unknown, secrets: readonly string[]): string {
  return typeof text === 'string' ? oneLine(redact(text, secrets)) : ''
}

/** The text with every secret in it replaced, encoded or not. */
function redact(text: string, secrets: readonly string[]): string {
  let result = text
  for (const secret of secrets)
    for (const form of [secret, encodeURIComponent(secret)])
      if (form.length >= MIN_SECRET_LENGTH) result = result.replaceAll(form, '***')
  return result
}
