import type { FactorProof } from '../config/mfa-options.ts'
import type { VendorKey } from '../config/vendor.ts'
import type { JsonObject } from './json.ts'
import { stringMember } from './json.ts'
import type { Provider } from './provider.ts'
import { requestTokens } from './token-endpoint.ts'
import type { TokenGrant } from './token-grant.ts'
import { toTokenGrant } from './token-grant.ts'
import { vendorValue } from './vendor.ts'

export interface FactorRequest {
  /** The provider's own token. */
  readonly mfaToken: string
  readonly proof: FactorProof
  /** What was asked for when the factor was demanded. */
  readonly audience?: string
  readonly scope?: string
  /** Whom the ID token must be about. */
  readonly subject?: string
  /** Claims of the session that the new ID token must agree with; absent where none are known. */
  readonly previous?: JsonObject
}

export interface FactorGrant extends TokenGrant {
  /** In place of a recovery code that was used. */
  readonly recoveryCode?: string
}

const grantTypes = {
  otp: 'mfaOtpGrantType',
  oob: 'mfaOobGrantType',
  'recovery-code': 'mfaRecoveryCodeGrantType',
} as const satisfies Record<FactorProof['kind'], VendorKey>

function toParameters(proof: FactorProof): Record<string, string> {
  switch (proof.kind) {
    case 'otp':
      return { otp: proof.otp }
    case 'oob':
      return {
        oob_code: proof.oobCode,
        ...(proof.bindingCode === undefined ? {} : { binding_code: proof.bindingCode }),
      }
    case 'recovery-code':
      return { recovery_code: proof.recoveryCode }
  }
}

/**
 * Proves another factor and gets the tokens that it was demanded for. Throws `OAuthError` (`error` `invalid_grant`: the
 * code was wrong; `authorization_pending`: the user has not approved yet; `mfa_required`: one more factor) and
 * `DiscoveryError`.
 */
export async function verifyFactor(provider: Provider, request: FactorRequest): Promise<FactorGrant> {
  const { audience, mfaToken, previous, proof, scope, subject } = request
  const metadata = await provider.metadata()
  const now = provider.config.clock()
  const parameters = {
    mfa_token: mfaToken,
    ...toParameters(proof),
    ...(audience === undefined ? {} : { audience }),
    ...(scope === undefined ? {} : { scope }),
  }
  const grantType = vendorValue(provider.config, grantTypes[proof.kind])
  const answer = await requestTokens({ provider, metadata }, grantType, parameters)
  const checks = {
    ...(subject === undefined ? {} : { subject }),
    ...(previous ? { previous } : {}),
  }
  const recoveryCode = stringMember(answer.body, 'recovery_code')
  const grant = await toTokenGrant(provider, answer, checks, now)
  return { ...grant, ...(recoveryCode === undefined ? {} : { recoveryCode }) }
}
