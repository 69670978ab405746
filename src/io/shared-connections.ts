/**
 * What calls of one process share that ask for the same: connections, and with them what was found out about a store
 * (where its buckets are, credentials that are still good). A service loads its tables again and again.
 *
 * Only for stores that nobody closes. One that a user makes has its own connections.
 */
import { HttpTransport } from './http-transport.ts'
import { S3FileIO } from './s3/s3-file-io.ts'
import type { S3Credentials, S3Options } from './s3/s3-options.ts'

/** Of each kind; of more, those that were used longest ago are made anew by the next call. */
const MAX_KEPT = 64

const transports = new Map<string, HttpTransport>()
const stores = new Map<string, S3FileIO>()
/** As long as the function lives. */
const storesOfFunctions = new WeakMap<() => Promise<S3Credentials>, Map<string, S3FileIO>>()

/** @throws InvalidArgumentError as {@link HttpTransport} does. */
export function sharedTransport(options: S3Options = {}): HttpTransport {
  const { connectTimeoutMs, requestTimeoutMs, maxSockets } = options
  const key = [connectTimeoutMs, requestTimeoutMs, maxSockets].join()
  return kept(transports, key, () => new HttpTransport(options))
}

/**
 * One for the same options in the same environment; with a function for credentials, for the same function. Where such
 * a function comes without a scope, each store is on its own.
 *
 * @throws InvalidArgumentError as {@link S3FileIO} does.
 */
export function sharedS3FileIO(options: S3Options): S3FileIO {
  const { credentials, credentialScope, ...others } = options
  const make = (): S3FileIO => new S3FileIO(options, sharedTransport(options))
  if (typeof credentials !== 'function')
    return kept(stores, keyOf({ credentials, credentialScope, ...others }), make)
  if (credentialScope === undefined) return make()
  let own = storesOfFunctions.get(credentials)
  if (own === undefined) storesOfFunctions.set(credentials, (own = new Map<string, S3FileIO>()))
  return kept(own, keyOf({ credentialScope, ...others }), make)
}

/** Holds the secrets, since other ones are another store: for a key of a map in memory, and nothing else. */
function keyOf(options: object): string {
  const fields = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([
    // JSON has no Infinity.
    fields.map(([name, value]) => [name, typeof value === 'number' ? String(value) : (value as unknown)]),
    environment(),
  ])
}

/** What the SDK and its default chain go by. */
function environment(): unknown {
  return Object.entries(process.env).filter(([name]) => /^(?:AWS_|HOME$|USERPROFILE$)/.test(name))
}

function kept<T>(all: Map<string, T>, key: string, make: () => T): T {
  const one = all.get(key) ?? make()
  all.delete(key)
  all.set(key, one)
  if (all.size > MAX_KEPT) for (const [oldest] of all) if (all.size > MAX_KEPT) all.delete(oldest)
  return one
}
