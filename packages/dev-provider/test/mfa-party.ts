import * as client from 'openid-client'
import type { DevProvider } from '../src/index.ts'
import type { RelyingParty, Tokens } from './relying-party.ts'

export const BANK = 'https://bank.example.test/'
export const OTP = 'http://auth0.com/oauth/grant-type/mfa-otp'
export const OOB = 'http://auth0.com/oauth/grant-type/mfa-oob'
export const RECOVERY = 'http://auth0.com/oauth/grant-type/mfa-recovery-code'

type Types = readonly { readonly type: string }[]

/** Body of a response with `mfa_required`. */
export interface Demand {
  readonly mfa_token: string
  readonly mfa_requirements: { readonly challenge?: Types; readonly enroll?: Types }
}

export interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/** An application that shows the second step itself. */
export interface MfaParty {
  /** A refresh for an API that demands a factor. */
  demand(tokens: Tokens, parameters?: Record<string, string>): Promise<Demand>
  /** The demand that a grant is refused with. */
  demanded(grant: Promise<unknown>): Promise<Demand>
  verify(type: string, demand: Demand, parameters: Record<string, string>): Promise<Tokens>
  verifyOob(demand: Demand, code: string, bindingCode?: string): Promise<Tokens>
  authenticators(demand: Demand): Promise<readonly Record<string, unknown>[]>
  challenge(demand: Demand, fields?: object): Promise<{ oob_code?: string; binding_method?: string }>
  call(path: 'associate' | 'challenge', demand: Demand, fields: object): Promise<ApiResponse>
}

function isDemand(value: unknown): value is Demand {
  return typeof value === 'object' && value !== null && 'mfa_token' in value && 'mfa_requirements' in value
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

export function mfaParty(provider: DevProvider, app: RelyingParty): MfaParty {
  const demanded: MfaParty['demanded'] = async (grant) => {
    try {
      await grant
    } catch (error) {
      if (error instanceof client.ResponseBodyError && isDemand(error.cause)) return error.cause
      throw error
    }
    throw new Error('the grant was not refused')
  }
  const call: MfaParty['call'] = async (path, { mfa_token: token }, fields) => {
    const response = await fetch(`${provider.issuer}/mfa/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(path === 'associate' ? { authorization: `Bearer ${token}` } : {}),
      },
      body: JSON.stringify({ ...(path === 'challenge' ? { mfa_token: token } : {}), ...fields }),
    })
    return { status: response.status, headers: response.headers, body: record(await response.json()) }
  }
  const verify: MfaParty['verify'] = (type, { mfa_token }, parameters) =>
    app.grant(type, { mfa_token, ...parameters })
  return {
    demanded,
    call,
    verify,
    demand: (tokens, parameters) => demanded(app.refresh(tokens, { audience: BANK, ...parameters })),
    verifyOob: (demand, code, bindingCode) =>
      verify(OOB, demand, {
        oob_code: code,
        ...(bindingCode === undefined ? {} : { binding_code: bindingCode }),
      }),
    authenticators: async ({ mfa_token: token }) => {
      const headers = { authorization: `Bearer ${token}` }
      const list: unknown = await (await fetch(`${provider.issuer}/mfa/authenticators`, { headers })).json()
      return Array.isArray(list) ? list.map(record) : []
    },
    challenge: async (demand, fields) => {
      const credentials = { client_id: provider.clientId, client_secret: provider.clientSecret }
      const { status, body } = await call('challenge', demand, { ...credentials, ...fields })
      if (status !== 200) throw new Error(`challenge: ${status} ${JSON.stringify(body)}`)
      return body
    },
  }
}
