/** The value of `--filter`. */
import { isIcebergError, toExpression, type Expression } from '../index.ts'
import { UsageError } from './failure.ts'

/** @throws UsageError for text that is no filter; whether the table has its columns only the table knows */
export function parseFilterOption(text: string): Expression {
  try {
    return toExpression(text)
  } catch (error) {
    if (isIcebergError(error)) throw new UsageError(error.message)
    throw error
  }
}
