import { isIdpError } from 'idp-client/next'
import { OrdersError } from '../../lib/orders'

/** Returns a message for the user when the API could not be called. */
export function explainFailure(error: unknown): string {
  if (isIdpError(error) && error.name === 'AccessTokenError') return explain(error.code)
  if (error instanceof OrdersError) return error.message
  if (error instanceof TypeError) return 'The orders API cannot be reached.'
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return 'The orders API did not respond in time.'
  // Next throws to control rendering; pass that on.
  throw error
}

function explain(code: string): string {
  return code === 'MISSING_REFRESH_TOKEN'
    ? 'Your access has expired. Log out and log in again.'
    : 'The provider did not issue an access token. Try again in a moment.'
}
