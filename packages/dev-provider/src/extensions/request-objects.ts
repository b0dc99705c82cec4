import type { ProviderState } from '../oidc/state.ts'
import type { Call } from '../wire/message.ts'
import { getPath, parseQuery } from '../wire/message.ts'

/** Header type of signed authorization requests (RFC 9101 section 10.8). */
const TYPE = 'oauth-authz-req+jwt'

/** Longest lifetime in seconds. */
const LIFETIME_LIMIT = 300

type Members = Readonly<Record<string, unknown>>

/** Returns whether a JWT of a client is a request object, by its header. */
export function isRequestObject(header: Members): boolean {
  return header['typ'] === TYPE
}

/**
 * Checks a request object beyond what oidc-provider does: its type, its time, its claims.
 *
 * @throws InvalidRequestObject for another kind of JWT, for example a client assertion
 */
export function assertRequestObject(
  { oidc: { errors } }: ProviderState,
  claims: Members,
  { header, isBackchannel }: { readonly header: Members; readonly isBackchannel: boolean },
): void {
  const refuse = (reason: string): never => {
    throw new errors.InvalidRequestObject(`Request Object ${reason}`)
  }
  if (!isRequestObject(header)) refuse(`has not the typ ${TYPE}`)
  const lifetime = Number(claims['exp']) - Number(claims['nbf'])
  if (Number.isNaN(lifetime)) refuse('has no exp or no nbf')
  if (lifetime > LIFETIME_LIMIT) refuse(`is valid for more than ${LIFETIME_LIMIT} s`)
  if ('sub' in claims) refuse('has a sub, as a client assertion has')
  if (isBackchannel && !('iat' in claims && 'jti' in claims)) refuse('has no iat or no jti')
}

/** Returns an authorization request as a provider sees it that does not know request objects, with `ignoreRequestObjects`. */
export function withoutRequestObject({ settings }: ProviderState, call: Call): Call {
  const query = parseQuery(call)
  if (!settings.ignoreRequestObjects || !query.has('request')) return call
  query.delete('request')
  return { ...call, url: `${getPath(call)}?${query}` }
}
