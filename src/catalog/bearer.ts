/**
 * Which token a request carries. A table may come with a token of its own, for the calls about it; when the catalog
 * refuses that, the catalog's own is tried.
 */
import type { OAuth2Tokens } from './oauth2-token.ts'

export interface Bearer {
  /** For the header `Authorization: Bearer`; undefined for none. */
  current(signal?: AbortSignal): Promise<string | undefined>
  /** The catalog has refused this token; whether there may be another one now. */
  refused(token: string): boolean
  /** What must not be in a message. */
  readonly secrets: readonly string[]
}

export function fixedBearer(token: string | undefined): Bearer {
  return {
    current: () => Promise.resolve(token),
    refused: () => false,
    secrets: token === undefined ? [] : [token],
  }
}

export function fetchedBearer(tokens: OAuth2Tokens): Bearer {
  return {
    current: (signal) => tokens.current(signal),
    refused(token) {
      tokens.forget(token)
      return true
    },
    get secrets() {
      return tokens.secrets
    },
  }
}

export function tableBearer(ofCatalog: Bearer, token: string): Bearer {
  let isRefused = false
  return {
    current: (signal) => (isRefused ? ofCatalog.current(signal) : Promise.resolve(token)),
    refused(refusedToken) {
      if (isRefused || refusedToken !== token) return ofCatalog.refused(refusedToken)
      isRefused = true
      return true
    },
    get secrets() {
      return [token, ...ofCatalog.secrets]
    },
  }
}
