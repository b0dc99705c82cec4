import type { Sending } from '../browser.ts'

/** The identifier of the API at `/resource` and `/shared`. */
export const AUDIENCE = 'https://api.example.test/'

/** How a guard rejects a request: with which status, `code` and challenge (RFC 6750 section 3, RFC 9449 section 7.1). */
export interface Refusal {
  readonly status: number
  readonly code: string
  /** Absent: there is no challenge. */
  readonly challenge?: RegExp
}

type RefusalName =
  | 'anonymous'
  | 'malformed'
  | 'token'
  | 'boundToken'
  | 'proof'
  | 'unprovable'
  | 'undecided'
  | 'notUser'
  | 'crossSite'

export const refusals: Readonly<Record<RefusalName, Refusal>> = {
  anonymous: {
    status: 401,
    code: 'NOT_AUTHENTICATED',
    challenge: /^Bearer realm="[^"]+", DPoP algs="[\w ]+"$/,
  },
  malformed: {
    status: 400,
    code: 'INVALID_REQUEST',
    challenge: /^Bearer error="invalid_request", error_description="[\w .]+"$/,
  },
  token: {
    status: 401,
    code: 'INVALID_TOKEN',
    challenge: /^Bearer error="invalid_token", error_description="[\w .]+"$/,
  },
  /** The same for the scheme DPoP. */
  boundToken: {
    status: 401,
    code: 'INVALID_TOKEN',
    challenge: /^DPoP error="invalid_token", error_description="[\w .]+", algs="[\w ]+"$/,
  },
  proof: {
    status: 401,
    code: 'INVALID_DPOP_PROOF',
    challenge: /^DPoP error="invalid_dpop_proof", error_description="[\w .]+", algs="[\w ]+"$/,
  },
  /** A base URL that is inferred from the request proves nothing in production. */
  unprovable: { status: 500, code: 'INVALID_CONFIGURATION' },
  /** Only keys that may not be loaded yet can decide. */
  undecided: { status: 503, code: 'TOKEN_UNDECIDED' },
  notUser: { status: 403, code: 'ACCESS_DENIED' },
  crossSite: { status: 403, code: 'CROSS_SITE_REQUEST' },
}

/** A request that must be refused. */
export interface Attack {
  readonly title: string
  /** Those that are allowed; more than one only if it depends on when the keys of the provider were loaded. */
  readonly refusals: readonly Refusal[]
  readonly sending: Sending
  /** Default: `/shared`, with the cookie of a session, which must not rescue the request. `/resource` gets no cookie. */
  readonly path?: string
}

export const toAttack = (title: string, sending: Sending, ...allowed: readonly Refusal[]): Attack => ({
  title,
  refusals: allowed,
  sending,
})

/** Returns the headers of a request with an access token. */
export const bearer = (token: string): Sending => ({ headers: { authorization: `Bearer ${token}` } })

export const bound = (token: string, proof?: string): Sending => ({
  headers: { authorization: `DPoP ${token}`, ...(proof === undefined ? {} : { dpop: proof }) },
})
