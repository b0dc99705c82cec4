import type { ProviderState } from '../oidc/state.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { jsonResponse, parseForm, parseJson, withBody } from '../wire/message.ts'

/**
 * How the provider treats the scope `offline_access`. `listed`: a refresh token needs it, and the metadata has it.
 * `unlisted`: the metadata lacks it, and every login brings a refresh token. `refused`: as `unlisted`, and a request
 * for it is rejected with `invalid_scope`, as at Spring Authorization Server and Amazon Cognito.
 */
export type OfflineAccess = (typeof OFFLINE_ACCESS)[number]
export const OFFLINE_ACCESS = ['listed', 'unlisted', 'refused'] as const

const SCOPE = 'offline_access'
const DESCRIPTION = 'offline_access is no scope of this provider'

/** Whether tokens of these scopes come with a refresh token. */
export function bringsRefreshToken({ settings }: ProviderState, scope: ReadonlySet<string>): boolean {
  return settings.offlineAccess !== 'listed' || scope.has(SCOPE)
}

/** @throws InvalidScope when an authorization request asks for what is refused */
export function assertKnownScope({ oidc, settings }: ProviderState, scope: ReadonlySet<string>): void {
  if (settings.offlineAccess !== 'refused' || !scope.has(SCOPE)) return
  throw new oidc.errors.InvalidScope(DESCRIPTION, SCOPE)
}

/** The refusal of a token request that asks for it, before oidc-provider consumes a refresh token. */
export function refusedOfflineAccess({ settings }: ProviderState, call: Call): BufferedResponse | undefined {
  const scope = parseForm(call).get('scope')?.split(' ') ?? []
  if (settings.offlineAccess !== 'refused' || !scope.includes(SCOPE)) return undefined
  return jsonResponse(400, { error: 'invalid_scope', error_description: DESCRIPTION })
}

/** The metadata without the scope, unless it is listed. */
export function withoutOfflineAccess(
  { settings }: ProviderState,
  metadata: BufferedResponse,
): BufferedResponse {
  const body = parseJson(metadata)
  const scopes = body?.['scopes_supported']
  if (settings.offlineAccess === 'listed' || !Array.isArray(scopes)) return metadata
  const rest = scopes.filter((scope) => scope !== SCOPE)
  return withBody(metadata, JSON.stringify({ ...body, scopes_supported: rest }))
}
