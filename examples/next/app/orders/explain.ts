import { isIdpError } from 'idp-client/next'
import { OrdersError } from '../../lib/orders'

/** What to tell a visitor for whom the API could not be asked. */
export function explainFailure(error: unknown): string {
  if (isIdpError(error) && error.name === 'AccessTokenError') return explain(error.code)
  if (error instanceof OrdersError) return error.message
  if (error instanceof TypeError) return 'The orders API cannot be reached.'
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'The orders API takes too long.'
  // What Next throws to steer a render has to pass.
  throw error
}

function explain(code: string): string {
  return code === 'MISSING_REFRESH_TOKEN'
    ? 'Your access has expired. Log out and log in again.'
    : 'The provider gives no access right now. Try again in a moment.'
}
