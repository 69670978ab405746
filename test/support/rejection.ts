/** What a promise or a call fails with, as a value to look at. */
import type { IcebergError } from '../../src/errors.ts'

/** The error a promise rejects with; throws if it does not. Typed as ours for the sake of the assertions on it. */
export async function rejection(promise: Promise<unknown>): Promise<IcebergError> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error as IcebergError
  }
  throw new Error(`Expected a rejection and got ${String(value)}`)
}

/** The error a call throws; throws if it does not. */
export function thrown(call: () => unknown): IcebergError {
  let value: unknown
  try {
    value = call()
  } catch (error) {
    return error as IcebergError
  }
  throw new Error(`Expected an error and got ${String(value)}`)
}
