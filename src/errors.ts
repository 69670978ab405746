/**
 * The error model: few classes, chosen by what the caller can do next, each with a stable `code`.
 *
 * | class                     | code                    | what to do                                   |
 * | ------------------------- | ----------------------- | -------------------------------------------- |
 * | `InvalidArgumentError`    | `ERR_INVALID_ARGUMENT`  | fix the call (unknown snapshot, ref, column)  |
 * | `InvalidMetadataError`    | `ERR_INVALID_METADATA`  | fix the table metadata                        |
 * | `CorruptFileError`        | `ERR_CORRUPT_FILE`      | fix or restore the named file                 |
 * | `UnsupportedFeatureError` | `ERR_UNSUPPORTED`       | upgrade, or turn the named switch on          |
 * | `NotFoundError`           | `ERR_NOT_FOUND`         | check the location, or a missing `rebase`     |
 * | `StorageError`            | `ERR_STORAGE`           | try again if `retryable`                      |
 * | `WorkerError`             | `ERR_WORKER`            | a bug or a lack of memory; report it          |
 *
 * An abort is not one of these: the plan rejects with the signal's own reason.
 * Match by `code` through {@link isIcebergError}, never by `instanceof`, which fails across threads and copies.
 */
import { withoutSecrets } from './without-secrets.ts'

export type IcebergErrorCode =
  | 'ERR_INVALID_ARGUMENT'
  | 'ERR_INVALID_METADATA'
  | 'ERR_CORRUPT_FILE'
  | 'ERR_UNSUPPORTED'
  | 'ERR_NOT_FOUND'
  | 'ERR_STORAGE'
  | 'ERR_WORKER'

/** Where in a table something went wrong; every part is optional because not every error knows all of them. */
export interface ErrorPlace {
  /** The file, as the metadata names it. */
  location?: string
  /** Zero-based ordinal of the manifest entry or manifest-list row. */
  entry?: number
  /** Byte offset: in the file for container errors, in the decompressed block for entry errors. */
  byte?: number
}

/**
 * Base class of all errors this library throws on purpose. What gives access to the location (a signature, a password) is
 * neither in the message nor in `location`, for errors end up in logs.
 */
export abstract class IcebergError extends Error {
  abstract readonly code: IcebergErrorCode
  readonly location: string | undefined
  readonly entry: number | undefined
  readonly byte: number | undefined

  constructor(message: string, place: ErrorPlace & { cause?: unknown } = {}) {
    const { location = '', cause } = place
    const shown = withoutSecrets(location)
    super(
      shown === location ? message : message.replaceAll(location, shown),
      cause === undefined ? undefined : { cause },
    )
    this.name = new.target.name
    this.location = place.location === undefined ? undefined : shown
    this.entry = place.entry
    this.byte = place.byte
  }
}

/** The call asks for something that does not exist or makes no sense: the caller must change the call. */
export class InvalidArgumentError extends IcebergError {
  readonly code = 'ERR_INVALID_ARGUMENT'
}

/** The table metadata (JSON, or rows that contradict it) breaks the specification. */
export class InvalidMetadataError extends IcebergError {
  readonly code = 'ERR_INVALID_METADATA'
}

/** The bytes of a manifest or manifest list cannot be what they claim to be. */
export class CorruptFileError extends IcebergError {
  readonly code = 'ERR_CORRUPT_FILE'
}

/** Valid input that this version does not read: a codec, an encryption, a format version behind a switch. */
export class UnsupportedFeatureError extends IcebergError {
  readonly code = 'ERR_UNSUPPORTED'
}

/** A file that must exist does not; `storeMissing` says that the store itself does not (a bucket). */
export class NotFoundError extends IcebergError {
  readonly code = 'ERR_NOT_FOUND'
  readonly storeMissing: boolean

  constructor(message: string, place: ErrorPlace & { cause?: unknown; storeMissing?: boolean } = {}) {
    super(message, place)
    this.storeMissing = place.storeMissing ?? false
  }
}

/**
 * The store failed; `retryable` says whether the same request may succeed later. `denied` says that the store is well
 * and knows who asks, and does not permit this request, or does not have its kind: others may succeed.
 */
export class StorageError extends IcebergError {
  readonly code = 'ERR_STORAGE'
  readonly retryable: boolean
  readonly denied: boolean

  constructor(
    message: string,
    place: ErrorPlace & { cause?: unknown; retryable?: boolean; denied?: boolean } = {},
  ) {
    super(message, place)
    this.retryable = place.retryable ?? false
    this.denied = place.denied ?? false
  }
}

/** A worker thread died or answered nonsense. */
export class WorkerError extends IcebergError {
  readonly code = 'ERR_WORKER'
}

/** True for errors of this library; with a code, only for that one. Works on copies made by other threads. */
export function isIcebergError(error: unknown, code?: IcebergErrorCode): error is IcebergError {
  if (!(error instanceof Error)) return false
  const own = (error as Partial<IcebergError>).code
  return typeof own === 'string' && own in CLASSES && (code === undefined || own === code)
}

/** An error as plain data, for the border between threads. */
export interface PlainError {
  code: IcebergErrorCode | undefined
  name: string
  message: string
  stack: string | undefined
  location: string | undefined
  entry: number | undefined
  byte: number | undefined
  retryable: boolean | undefined
  denied: boolean | undefined
  storeMissing: boolean | undefined
}

const CLASSES = {
  ERR_INVALID_ARGUMENT: InvalidArgumentError,
  ERR_INVALID_METADATA: InvalidMetadataError,
  ERR_CORRUPT_FILE: CorruptFileError,
  ERR_UNSUPPORTED: UnsupportedFeatureError,
  ERR_NOT_FOUND: NotFoundError,
  ERR_STORAGE: StorageError,
  ERR_WORKER: WorkerError,
} as const

/** Structured clone keeps only message and stack of an error, so errors cross threads as data. */
export function toPlainError(error: unknown): PlainError {
  const e = error instanceof Error ? error : new Error(String(error))
  const own = e as Partial<Omit<StorageError, 'code'> & Pick<NotFoundError, 'storeMissing'>>
  return {
    code: isIcebergError(e) ? e.code : undefined,
    name: e.name,
    message: e.message,
    stack: e.stack,
    location: own.location,
    entry: own.entry,
    byte: own.byte,
    retryable: own.retryable,
    denied: own.denied,
    storeMissing: own.storeMissing,
  }
}

/** Rebuilds what {@link toPlainError} took apart, with its class, code and fields. */
export function fromPlainError(plain: PlainError): Error {
  if (plain.code === undefined) {
    const error = new WorkerError(`A worker failed: ${plain.name}: ${plain.message}`)
    if (plain.stack !== undefined) error.stack = plain.stack
    return error
  }
  const place: ErrorPlace & { retryable?: boolean; denied?: boolean; storeMissing?: boolean } = {}
  if (plain.location !== undefined) place.location = plain.location
  if (plain.entry !== undefined) place.entry = plain.entry
  if (plain.byte !== undefined) place.byte = plain.byte
  if (plain.retryable !== undefined) place.retryable = plain.retryable
  if (plain.denied !== undefined) place.denied = plain.denied
  if (plain.storeMissing !== undefined) place.storeMissing = plain.storeMissing
  const error = new CLASSES[plain.code](plain.message, place)
  if (plain.stack !== undefined) error.stack = plain.stack
  return error
}
