/**
 * Paths of a REST catalog: every name percent-encoded once, the levels of a namespace joined by a separator, the
 * prefix of the catalog in front.
 */
import { InvalidArgumentError } from '../errors.ts'
import type { TableIdentifier } from './catalog.ts'

/** What a namespace's levels are joined by unless the catalog says otherwise: the unit separator of ASCII. */
const UNIT_SEPARATOR = '%1F'

export class RestPaths {
  /** No slash at its end. */
  readonly #base: URL
  readonly #prefix: string | undefined
  /** As it stands in a path. */
  readonly #separator: string

  /**
   * @param prefix names and slashes, as the catalog says it; encoded already where it must be
   * @param separator as the property `namespace-separator` says it. Encoded, it goes into paths as it is: a server may
   *   look for `%2E` and not find it in a dot
   */
  constructor(base: URL, prefix?: string, separator?: string) {
    this.#base = base
    const trimmed = prefix?.replace(/^\/+|\/+$/g, '')
    this.#prefix = trimmed === '' ? undefined : trimmed
    this.#separator = separator === undefined || separator === '' ? UNIT_SEPARATOR : encodedAlready(separator)
  }

  /** A place named by a user or the catalog, absolute or from the base; undefined for what is no HTTP URL. */
  resolve(place: string): URL | undefined {
    const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(place)
    const text = isAbsolute ? place : `${this.#base.href.replace(/\/$/, '')}/${place.replace(/^\/+/, '')}`
    if (!URL.canParse(text)) return undefined
    const url = new URL(text)
    const isPlain = /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
    return isPlain ? url : undefined
  }

  config(warehouse: string | undefined): URL {
    return this.#url('v1/config', warehouse === undefined ? {} : { warehouse })
  }

  table({ namespace, name }: TableIdentifier, further = ''): URL {
    return this.#url(`${this.#namespace(namespace)}/tables/${encodeName(name)}${further}`)
  }

  tables(namespace: readonly string[], query: Readonly<Record<string, string>>): URL {
    return this.#url(`${this.#namespace(namespace)}/tables`, query)
  }

  /** @param parent none for the outermost ones */
  namespaces(parent: readonly string[], query: Readonly<Record<string, string>>): URL {
    const within = parent.length === 0 ? {} : { parent: parent.join(decoded(this.#separator)) }
    return this.#url(`${this.#root()}/namespaces`, { ...within, ...query })
  }

  #root(): string {
    return this.#prefix === undefined ? 'v1' : `v1/${this.#prefix.split('/').map(encodeOnce).join('/')}`
  }

  #namespace(levels: readonly string[]): string {
    return `${this.#root()}/namespaces/${levels.map(encodeName).join(this.#separator)}`
  }

  #url(path: string, query: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(this.#base)
    url.pathname = `${this.#base.pathname.replace(/\/+$/, '')}/${path}`
    url.search = new URLSearchParams(query).toString()
    return url
  }
}

/** @throws InvalidArgumentError for what a URL takes for a step upwards, however it is encoded. */
function encodeName(name: string): string {
  if (name === '.' || name === '..')
    throw new InvalidArgumentError(
      `Cannot ask a REST catalog for '${name}': no path of a URL can hold that name`,
    )
  // Half a surrogate pair has no UTF-8 form.
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\uFFFD'))
}

/** Some catalogs give their prefix encoded, some do not. */
function encodeOnce(part: string): string {
  return encodeName(decoded(part))
}

function encodedAlready(text: string): string {
  return /%[0-9A-Fa-f]{2}/.test(text) ? text : encodeURIComponent(text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
