import type { FactorProof } from '../config/mfa-options.ts'
import type { VendorKey } from '../config/vendor.ts'
import type { JsonObject } from './json.ts'
import { stringProperty } from './json.ts'
import type { Provider } from './provider.ts'
import { requestTokens } from './token-endpoint.ts'
import type { TokenGrant } from './token-grant.ts'
import { validateTokenGrant } from './token-grant.ts'
import { vendorValue } from './vendor.ts'

export interface FactorRequest {
  /** The provider's own `mfa_token`, decrypted. */
  readonly mfaToken: string
  readonly proof: FactorProof
  /** Audience of the refused token request. */
  readonly audience?: string
  readonly scope?: string
  /** Required `sub` of the ID token. */
  readonly subject?: string
  /** Claims of the session that the new ID token must agree with; absent if none are known. */
  readonly previous?: JsonObject
}

export interface FactorGrant extends TokenGrant {
  /** Replacement of a used recovery code. */
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
 * Verifies another factor and returns the requested tokens. Throws `OAuthError` (`error` `invalid_grant`: wrong code;
 * `authorization_pending`: not approved yet; `mfa_required`: one more factor is needed) and `DiscoveryError`.
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
  const response = await requestTokens({ provider, metadata }, grantType, parameters)
  const checks = {
    ...(subject === undefined ? {} : { subject }),
    ...(previous ? { previous } : {}),
  }
  const recoveryCode = stringProperty(response.body, 'recovery_code')
  const grant = await validateTokenGrant(provider, response, checks, now)
  return { ...grant, ...(recoveryCode === undefined ? {} : { recoveryCode }) }
}
