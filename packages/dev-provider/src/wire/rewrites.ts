import type { JWTHeaderParameters, JWTPayload } from 'jose'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { KeyRing, SigningKey } from '../keys.ts'
import type { Endpoint } from './endpoints.ts'
import type { FaultOptions, Rules } from './faults.ts'
import { createRules } from './faults.ts'
import type { BufferedResponse } from './message.ts'
import { parseJson, withBody } from './message.ts'
import type { LoggedRequest } from './request-log.ts'

/** JSON objects as they go over the wire; a member set to `undefined` is left out. */
export type JsonObject = Record<string, unknown>

/** Changes a JSON response: in place, or by returning another value. */
export type JsonRewrite = (body: JsonObject, request: LoggedRequest) => unknown

/** Changes the text of a response, for what JSON values cannot express (duplicate keys, `__proto__`). */
export type TextRewrite = (body: string, request: LoggedRequest) => string

/** How a changed token is signed. */
export interface Forgery {
  /** Signs with this key instead of the provider's; the header still names the provider's `kid`. */
  readonly key?: SigningKey
  /** Another `alg`; `none` gives an unsigned token. */
  readonly alg?: string
  /** Keeps the original signature over the changed claims. */
  readonly keepSignature?: boolean
  /** Replaces the token by this text. */
  readonly token?: string
}

/** Changes claims and header in place; what it returns says how the result is signed. */
export type TokenChange = (
  claims: JWTPayload,
  header: JWTHeaderParameters,
) => ForgeryReturn | Promise<ForgeryReturn>

// biome-ignore lint/suspicious/noConfusingVoidType: without strictNullChecks a function without a return statement returns void
type ForgeryReturn = Forgery | undefined | void

/** Changes the parameters of an authorization response in place: `code`, `state`, `iss`, or `error`. */
export type ParameterChange = (parameters: URLSearchParams, request: LoggedRequest) => void

/** `undefined`: there was nothing to change, so it does not count as used. */
type Rewrite = (
  response: BufferedResponse,
  request: LoggedRequest,
) => BufferedResponse | undefined | Promise<BufferedResponse | undefined>

/** The changes to responses that a test sets. */
export interface Changes {
  /** Changes JSON responses of an endpoint; returns a function that removes the change. `times` counts changed responses. */
  rewrite(endpoint: Endpoint, change: JsonRewrite, options?: FaultOptions): () => void
  /** Changes the text of responses, for what JSON values cannot express. */
  rewriteText(endpoint: Endpoint, change: TextRewrite, options?: FaultOptions): () => void
  /** Changes ID tokens before they are sent, and signs them again as configured; returns a function that removes the change. */
  tamperIdToken(change: TokenChange, options?: FaultOptions): () => void
  /** The same for JWT access tokens; opaque ones are left alone. */
  tamperAccessToken(change: TokenChange, options?: FaultOptions): () => void
  /** Changes the parameters with which the browser returns to the application, in the response mode `query`. */
  tamperAuthorizationResponse(change: ParameterChange, options?: FaultOptions): () => void
}

export interface Rewrites extends Changes {
  apply(response: BufferedResponse, request: LoggedRequest): Promise<BufferedResponse>
  clear(endpoint?: Endpoint): void
}

async function forge(token: string, change: TokenChange, keys: KeyRing): Promise<string> {
  const claims = decodeJwt(token)
  const original = decodeProtectedHeader(token)
  const header: JWTHeaderParameters = { alg: 'RS256', ...original }
  const forgery = (await change(claims, header)) ?? {}
  if (forgery.token !== undefined) return forgery.token
  if (forgery.keepSignature) {
    const parts = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    return [...parts, token.split('.')[2] ?? ''].join('.')
  }
  const alg = forgery.alg ?? header.alg
  // Another key of the provider signs another algorithm; its own id takes the place of an unchanged one.
  if (alg !== original.alg && forgery.key === undefined && header.kid === original.kid) delete header.kid
  return keys.sign(claims, {
    alg,
    header: { ...header, alg },
    ...(forgery.key === undefined ? {} : { key: forgery.key }),
  })
}

/** Redirects of the authorization endpoint to its own pages are no authorization responses. */
const toTampered =
  (change: ParameterChange): Rewrite =>
  (response, request) => {
    const { location } = response.headers
    if (typeof location !== 'string' || !URL.canParse(location)) return undefined
    const url = new URL(location)
    if (!url.searchParams.has('code') && !url.searchParams.has('error')) return undefined
    change(url.searchParams, request)
    return { ...response, headers: { ...response.headers, location: url.href } }
  }

/** Changes to real responses, applied in the order in which they were set. */
export function createRewrites(keys: KeyRing): Rewrites {
  const rules: Rules<Rewrite> = createRules()

  const json =
    (change: JsonRewrite): Rewrite =>
    (response, request) => {
      const body = parseJson(response)
      if (!body) return undefined
      const changed = change(body, request)
      return withBody(response, JSON.stringify(changed === undefined ? body : changed))
    }

  /** Nothing is changed if the token is not a JWT. */
  const tamper =
    (name: 'access_token' | 'id_token', change: TokenChange): Rewrite =>
    async (response) => {
      const body = parseJson(response)
      const token = body?.[name]
      if (typeof token !== 'string' || token.split('.').length !== 3) return undefined
      return withBody(response, JSON.stringify({ ...body, [name]: await forge(token, change, keys) }))
    }

  return {
    rewrite: (endpoint, change, options) => rules.set(endpoint, json(change), options),
    rewriteText: (endpoint, change, options) =>
      rules.set(
        endpoint,
        (response, request) => withBody(response, change(response.body.toString('utf8'), request)),
        options,
      ),
    tamperIdToken: (change, options) => rules.set('token', tamper('id_token', change), options),
    tamperAccessToken: (change, options) => rules.set('token', tamper('access_token', change), options),
    tamperAuthorizationResponse: (change, options) => rules.set('authorize', toTampered(change), options),
    apply: async (response, request) => {
      let result = response
      for (const rule of rules.matching(request)) {
        const rewritten = await rule.value(result, request)
        if (!rewritten) continue
        rule.use()
        result = rewritten
      }
      return result
    },
    clear: (endpoint) => rules.clear(endpoint),
  }
}
