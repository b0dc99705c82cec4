import type { ApiConfig } from '../config/config.ts'
import type { VerificationClock } from '../oidc/claims.ts'
import { isOfOrganization, isTime, toVerificationClock } from '../oidc/claims.ts'
import type { JsonObject } from '../oidc/json.ts'
import { provenIn, toAuthentication } from '../session/model/authentication.ts'
import { decodeClaims } from '../session/model/claims.ts'
import { commonScope, coversScope, unitedScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { AcceptEntry, AcceptedAuth, AcceptedScope } from './accepted-auth.ts'
import type { Auth, SessionAuth } from './auth.ts'

/**
 * Requirements of a guard in addition to a session; all must be met. They are checked against claims that the provider
 * signed, never against `user`, which hooks may change: `auth_time`, `acr` and `amr` as proven in this session by its
 * login, a step-up or an MFA verification. A missing claim counts as not met. A property that is `undefined` requires
 * nothing. An unknown property, an invalid value, or an `authorize` that is `undefined` throws `InvalidConfigurationError` when
 * the guard is created.
 */
export interface GuardRequirements {
  /** Maximum age of the authentication (`auth_time`) in seconds; `dpopOptions.clockTolerance` (60 s) is added. */
  maxAge?: number | undefined
  /** Authentication context class (`acr`): one of these. */
  acr?: string | readonly string[] | undefined
  /** Authentication methods (`amr`, RFC 8176): all of these. A login cannot request them; it can request `acr`. */
  amr?: string | readonly string[] | undefined
  /**
   * Organization: one of these. Matches `org_id` exactly, or `org_name` case-insensitively if it does not look like an
   * id.
   */
  organization?: string | readonly string[] | undefined
  /** Scopes granted to the access token of the login: all of these. A string may hold several, separated by spaces. */
  scope?: string | readonly string[] | undefined
  /**
   * Decides whether the user may pass, once all other requirements are met, for example by a role in `auth.claims`. Called once
   * for each request; only `true` lets it pass. Otherwise an API and a page respond 403 with the code `ACCESS_DENIED`; a page of
   * Next.js, or a document of TanStack Start, throws the error of that code. An exception rejects the request, too.
   */
  authorize?: (auth: SessionAuth) => boolean | Promise<boolean>
}

/** Options of the guard of an API. */
export interface ApiGuardOptions extends GuardRequirements {
  /**
   * Whether a request that may change something (any method but GET, HEAD and OPTIONS, and a WebSocket; with
   * `session.cookie.sameSite: 'none'` any request) must come from a page of the application: by `Sec-Fetch-Site` and `Origin`, as
   * far as the request has them. Otherwise it gets 403 `CROSS_SITE_REQUEST`. Always so with `accept`. Default: false.
   */
  sameOrigin?: boolean
  /** That of `ResourceGuardOptions`. */
  accept?: never
}

/** Options of the guard of an API, with `accept` or, if `Entry` is `never`, without. */
export interface AnyApiGuardOptions<Entry extends AcceptEntry = AcceptEntry, Scope extends string = string>
  extends Omit<GuardRequirements, 'authorize' | 'scope'> {
  /**
   * The ways to authenticate: access tokens of these resources, sessions (`'session'`), or either. A token in the
   * header `Authorization` decides alone, also beside a session cookie. With a cookie alone, a request that may change something
   * (any method but GET, HEAD and OPTIONS) must come from a page of the application, else it gets 403 `CROSS_SITE_REQUEST`.
   */
  accept?: readonly Entry[]
  /**
   * Scopes granted to the access token: all of these. With `accept`, TypeScript compares them with the scopes of the resource, except
   * values of the type `string`, which are compared when the guard is created. Without it a string may hold several.
   */
  scope?:
    | ((Scope | readonly Scope[]) &
        (string extends Scope ? unknown : AcceptedScope<Entry> | readonly AcceptedScope<Entry>[]))
    | undefined
  /** That of `ApiGuardOptions`; never beside `accept`. */
  sameOrigin?: [Entry] extends [never] ? boolean : never
  /** As for other guards; also called for access tokens (`auth.kind`). */
  authorize?: (auth: AcceptedAuth<Entry>) => boolean | Promise<boolean>
}

/** Options of the guard of an API that access tokens may call. */
export interface ResourceGuardOptions<Entry extends AcceptEntry = AcceptEntry, Scope extends string = string>
  extends AnyApiGuardOptions<Entry, Scope> {
  accept: readonly Entry[]
}

/** Options of the guard of an API, before it is known whether they have `accept`. */
export type EitherGuardOptions = ApiGuardOptions | ResourceGuardOptions

type Lists = Partial<Record<Exclude<keyof GuardRequirements, 'maxAge' | 'authorize'>, readonly string[]>>

/** Validated requirements of a guard; `maxAge` in seconds. `authorize` is called with what the guard accepts. */
export type Requirements = Readonly<Lists> & {
  authorize?(auth: Auth): boolean | Promise<boolean>
  readonly maxAge?: number
}

/** First kind of requirement that is not met; checked in the order authentication, organization, scope. */
export type Unmet = 'authentication' | 'organization' | 'scope'

type Session = Pick<StoredSession, 'authentication' | 'data' | 'ownScope'>

/** The claims of the provider about a caller, and the granted scope. */
interface Evidence {
  /** Claims about the authentication: the first say when it was, and all must meet `acr` and `amr`. */
  readonly authentications: readonly [JsonObject, ...JsonObject[]]
  /** Claims about the organization. */
  readonly organization: JsonObject
  /** The granted scope. */
  readonly scope: string
}

/** Copies the claims to an object without a prototype, so that inherited properties do not count. */
function withoutPrototype(claims: JsonObject): JsonObject {
  return Object.assign(Object.create(null) as JsonObject, claims)
}

function isRecent(claims: JsonObject, maxAge: number, { now, tolerance }: VerificationClock): boolean {
  const { auth_time: authTime } = withoutPrototype(claims)
  return isTime(authTime) && authTime <= now + tolerance && authTime + maxAge + tolerance >= now
}

/** Returns whether claims name one of the required context classes and all required methods. */
function meetsAcrAndAmr(claims: JsonObject, required: Requirements): boolean {
  const { acr, amr } = withoutPrototype(claims)
  const accepted: readonly unknown[] | undefined = required.acr
  if (accepted && !accepted.includes(acr)) return false
  return !required.amr || (Array.isArray(amr) && required.amr.every((method) => amr.includes(method)))
}

/** An access token of a session, as far as its scope is concerned. Stores may hold anything. */
type GrantedToken = Readonly<Partial<Record<'requestedScope' | 'scope', unknown>>>

/**
 * Returns the scope that was granted to an access token. A token response without `scope` grants what was requested (RFC 6749
 * section 5.1). Of that only `own` counts, which the application requests itself: the author of a login link must not choose what
 * passes a guard.
 */
export function toGrantedScope({ requestedScope, scope }: GrantedToken, own: string): string {
  if (scope !== undefined) return typeof scope === 'string' ? scope : ''
  return typeof requestedScope === 'string' ? commonScope(requestedScope, own) : ''
}

/** Returns the scope that was granted to the access token of the login. */
export function mainScope({ data, ownScope }: Session, configuredScope: string): string {
  return toGrantedScope(data.tokenSet, unitedScope(configuredScope, ownScope))
}

/** Returns the evidence of a session. `configuredScope` is the scope that every login for its audience requests. */
export function toEvidence(session: Session, configuredScope: string): Evidence {
  const { idToken } = session.data.tokenSet
  const proven = provenIn(session)
  const claims = decodeClaims(idToken) ?? {}
  // The ID token of a refresh may contain less than was proven before; newer proof is not in the stored one.
  const stored = proven.ahead ? {} : toAuthentication(claims)
  return {
    authentications: [proven, { ...proven, ...stored }],
    organization: idToken === undefined ? proven : claims,
    scope: mainScope(session, configuredScope),
  }
}

/** Returns the first kind of requirement that a caller does not meet, or `null`; a claim that is missing meets none. */
export function findUnmet(
  requirements: Requirements,
  { authentications, organization, scope }: Evidence,
  config: Pick<ApiConfig, 'clock' | 'dpop' | 'vendor'>,
): Unmet | null {
  const { maxAge, organization: organizations, scope: scopes = [] } = requirements
  if (Object.keys(requirements).length === 0) return null
  const isAuthenticated =
    (maxAge === undefined || isRecent(authentications[0], maxAge, toVerificationClock(config))) &&
    authentications.every((claims) => meetsAcrAndAmr(claims, requirements))
  if (!isAuthenticated) return 'authentication'
  const own = withoutPrototype(organization)
  if (organizations && !organizations.some((one) => isOfOrganization(config, own, one))) return 'organization'
  return coversScope(scope, scopes.join(' ')) ? null : 'scope'
}

/** Calls `authorize` of a guard, if there is one. Returns true only if that returns true. Throws what it throws. */
export async function isAuthorized({ authorize }: Requirements, toAuth: () => Auth): Promise<boolean> {
  return !authorize || (await authorize(toAuth())) === true
}
