import type {
  AuthorizationDetail,
  AuthorizationDetailsForIntrospection,
  ClientMetadata,
  KoaContextWithOIDC,
  RichAuthorizationRequestsActiveConfiguration,
} from 'oidc-provider'
import type { ProviderState } from '../oidc/state.ts'

/** The details that a token gets: the requested ones, or others, as when the user approves only a part. */
export const GRANTED_DETAILS = ['requested', 'other'] as const

/** The types of details that are accepted by default: those of the examples in RFC 9396. */
export const DETAILS_TYPES: readonly string[] = ['account_information', 'payment', 'payment_initiation']

/** The details in the parameter of a request, whose form oidc-provider has checked. */
export function requestedDetails({
  oidc: { params },
}: KoaContextWithOIDC): AuthorizationDetail[] | undefined {
  const text = params?.['authorization_details']
  return typeof text === 'string' ? JSON.parse(text) : undefined
}

/** A client as oidc-provider gets it: every client may request every type. */
export function withDetailsTypes(
  { authorizationDetailsTypes: types }: ProviderState,
  client: ClientMetadata | undefined,
): ClientMetadata | undefined {
  return client && { ...client, authorization_details_types: [...types] }
}

type DetailsFeature = RichAuthorizationRequestsActiveConfiguration & {
  authorizationDetailsForIntrospection: AuthorizationDetailsForIntrospection
}

/** Rich Authorization Requests (RFC 9396): everything that is requested is granted, unless the settings want other details. */
export function detailsConfiguration({ authorizationDetailsTypes, settings }: ProviderState): DetailsFeature {
  return {
    enabled: true,
    types: Object.fromEntries(authorizationDetailsTypes.map((type) => [type, { validate: () => {} }])),
    authorizationDetailsForGrantSource: requestedDetails,
    authorizationDetailsForAccessToken: (_ctx, _token, source) => {
      const details = source && 'rar' in source ? source.rar : undefined
      if (settings.grantedDetails === 'requested') return details
      return details?.map(({ type }) => ({ type, identifier: 'not-requested' }))
    },
    authorizationDetailsForIntrospection: (_ctx, token) => ('rar' in token ? token.rar : undefined),
  }
}
