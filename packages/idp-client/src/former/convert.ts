import type { Config } from '../config/config.ts'
import { isIdpError } from '../errors/base.ts'
import { defined } from '../lib/objects.ts'
import { asIdpError, reportOutcome } from '../log/failure.ts'
import type { FormerRefusal } from '../log/log.ts'
import { isForAudience, isOfOrganization } from '../oidc/claims.ts'
import { verifyEarlierIdToken } from '../oidc/id-token.ts'
import type { JsonObject } from '../oidc/json.ts'
import { getProvider } from '../oidc/provider.ts'
import { readLoginExpiry } from '../session/expiry.ts'
import { prepareNewSession } from '../session/hooks.ts'
import { toAuthentication } from '../session/model/authentication.ts'
import { decodeClaims } from '../session/model/claims.ts'
import { createSession } from '../session/model/session.ts'
import type { SessionData, TokenSet, User } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { FormerSession } from '../take-over/take-over.ts'

/** A former session with the time of its last use. */
export type UsedSession = FormerSession & { readonly usedAt: number }

/** A converted session, or the reason for its refusal. */
export type Converted = StoredSession | FormerRefusal

/** The claims of a former session that the provider has signed. */
interface Proof {
  /** The verified claims of its ID token; absent without one, or if its key is no longer published. */
  readonly claims?: JsonObject
  readonly issuer: string
  /** Whether the tokens are those of the configured provider and client. */
  readonly areTokensOurs: boolean
}

/** In place of the fingerprint of a login here: no guard may conclude that the login that it requires was just tried. */
const UNKNOWN_LOGIN = 'taken-over'

/** Returns the verified claims; undefined if they cannot be verified. Throws `DiscoveryError`. */
async function verify(config: Config, idToken: string): Promise<JsonObject | undefined> {
  try {
    return await verifyEarlierIdToken(getProvider(config), idToken)
  } catch (error) {
    if (isIdpError(error, 'ID_TOKEN_INVALID')) return undefined
    throw error
  }
}

async function prove(config: Config, former: FormerSession): Promise<Proof | 'other-client' | 'reader'> {
  const { issuer } = await getProvider(config).metadata()
  const { clientId } = config
  const { clientId: givenClient, idToken, issuer: givenIssuer, user } = former
  if ((givenIssuer ?? issuer) !== issuer || (givenClient ?? clientId) !== clientId) return 'other-client'
  const isNamed = givenIssuer !== undefined && givenClient !== undefined
  if (idToken === undefined) return { issuer, areTokensOurs: isNamed }
  const decoded = decodeClaims(idToken)
  if (decoded && (decoded['iss'] !== issuer || !isForAudience(decoded, clientId))) return 'other-client'
  // A refresh would replace the user by the one of its ID token.
  if (decoded && decoded['sub'] !== user.sub) return 'reader'
  const claims = await verify(config, idToken)
  return defined({ claims, issuer, areTokensOurs: claims !== undefined || isNamed })
}

/** A token that is bound to a key, or is not although the options demand it, is refreshed. */
function isUsable({ dpop }: Config, type = 'Bearer'): boolean {
  return type.toLowerCase() === (dpop.enabled ? 'dpop' : 'bearer')
}

/** Returns the tokens of the session; empty ones unless they are shown to be those of the configured client. */
function toTokenSet(config: Config, { idToken, tokens }: FormerSession, proof: Proof): TokenSet {
  const none = { accessToken: '', expiresAt: 0 }
  if (!proof.areTokensOurs) return none
  const { accessToken, expiresAt, refreshToken, ...origin } = tokens ?? {}
  const { token_type: type, ...scopes } = origin
  const access =
    accessToken !== undefined && isUsable(config, type)
      ? { accessToken, expiresAt: expiresAt ?? 0, token_type: config.dpop.enabled ? 'DPoP' : 'Bearer' }
      : none
  return defined({ ...access, ...scopes, refreshToken, idToken: proof.claims && idToken })
}

function isOfConfiguredOrganization(config: Config, claims: JsonObject): boolean {
  const organization = config.authorization.parameters.get('organization')
  return organization === undefined || isOfOrganization(config, claims, organization)
}

/** Returns the session before `beforeSessionSaved`, which gets the claims of the ID token, too. */
function toData(config: Config, former: FormerSession, proof: Proof): SessionData {
  const { createdAt, idToken, sid, user } = former
  const claims = config.hooks.beforeSessionSaved ? { ...proof.claims, ...user } : user
  const claimed =
    config.session.expiryClaim === undefined || !proof.claims || idToken === undefined
      ? undefined
      : readLoginExpiry(config, idToken)
  const ends = [claimed, former.sessionExpiresAt].filter((end) => end !== undefined)
  const sessionExpiresAt = ends.length > 0 ? Math.min(...ends) : undefined
  const tokenSet = toTokenSet(config, former, proof)
  const given = { ...claims, ...defined({ sid: sid ?? proof.claims?.['sid'] }) } as User
  return createSession({ claims: given, tokenSet, now: createdAt, sessionExpiresAt })
}

/**
 * Returns the claims of the user that the ID token does not contain: a refresh keeps them, like those from UserInfo. It need not be
 * verified, since this only shows where a claim came from.
 */
function toFurtherClaims(former: FormerSession, { user }: SessionData): string[] | undefined {
  const claims = decodeClaims(former.idToken) ?? {}
  const names = Object.keys(user).filter(
    (name) => Object.hasOwn(former.user, name) && !Object.hasOwn(claims, name),
  )
  return names.length > 0 ? names : undefined
}

/** Never throws, since a cookie must not make a request fail; an unexpected error is reported. */
function toRefusal({ log }: Config, thrown: unknown): FormerRefusal {
  if (isIdpError(thrown, 'HOOK_FAILED')) return 'hook'
  const error = asIdpError(thrown)
  // Of `session.expiryClaim`: the end is past, or cannot be read.
  if (error.name === 'CallbackError') return 'expired'
  if (error.name !== 'DiscoveryError') reportOutcome(log, error, { level: 'error', code: 'REQUEST_FAILED' })
  return 'keys'
}

/**
 * Converts a former session to one of ours, with the times of its login. How the user authenticated counts only from an ID token
 * that was verified. Returns the reason if it is not accepted; nothing is converted while metadata or keys cannot be loaded.
 */
export async function convert(config: Config, former: UsedSession, sessionKey: string): Promise<Converted> {
  try {
    const proof = await prove(config, former)
    if (typeof proof === 'string') return proof
    const { user } = former
    if (!isOfConfiguredOrganization(config, proof.claims ?? user)) return 'organization'
    const prepared = toData(config, former, proof)
    const data = await prepareNewSession(config, prepared, prepared.tokenSet.idToken)
    const authentication = toAuthentication(proof.claims ?? { iss: proof.issuer, sub: user.sub })
    const userInfoClaims = toFurtherClaims(former, data)
    // The former library may have let a link choose the scope.
    const origin = defined({ requestedAuthentication: UNKNOWN_LOGIN, fromLink: true, userInfoClaims })
    return { data, sessionKey, usedAt: former.usedAt, authentication, ...origin }
  } catch (error) {
    return toRefusal(config, error)
  }
}
