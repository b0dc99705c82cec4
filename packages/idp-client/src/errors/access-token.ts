import { IdpError } from './base.ts'

/** No access token can be handed out. */
export class AccessTokenError extends IdpError<
  'MISSING_SESSION' | 'MISSING_REFRESH_TOKEN' | 'NOT_AVAILABLE'
> {
  override readonly name = 'AccessTokenError'
}
