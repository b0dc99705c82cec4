import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { describeUnknownAudience } from '../apis.ts'
import { detailsConfiguration } from '../extensions/authorization-details.ts'
import { cibaConfiguration } from '../extensions/ciba.ts'
import { certificateFeature } from '../extensions/client-certificates.ts'
import { assertRequestObject } from '../extensions/request-objects.ts'
import { noticePage } from '../pages/notices.ts'
import { DEV_PATH } from '../wire/endpoints.ts'
import { chooseResource, resolveTarget } from './authorization.ts'
import type { ProviderState } from './state.ts'
import { toResourceServer } from './tokens.ts'

function ownTokensOnly(
  _ctx: KoaContextWithOIDC,
  client: { readonly clientId: string },
  token: { readonly clientId?: string | undefined },
): boolean {
  return token.clientId === client.clientId
}

/** The extensions of OpenID Connect that are switched on, and what they ask us. */
export function createFeatures(state: ProviderState): NonNullable<Configuration['features']> {
  const { errors } = state.oidc
  return {
    devInteractions: { enabled: false },
    backchannelLogout: { enabled: true },
    ciba: cibaConfiguration(state),
    claimsParameter: { enabled: true },
    // Clients of MCP are known by the https URL of their metadata.
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02', cacheDuration: { min: 0, max: 0 } },
    clientCredentials: { enabled: true },
    dPoP: {
      enabled: true,
      nonceSecret: state.nonceSecret,
      requireNonce: () => state.settings.dpopNonces,
    },
    mTLS: certificateFeature(state),
    introspection: {
      enabled: true,
      allowedPolicy: (ctx, client, token) =>
        state.settings.introspectionOf === 'any' || ownTokensOnly(ctx, client, token),
    },
    jwtUserinfo: { enabled: true },
    requestObjects: {
      enabled: true,
      assertJwtClaimsAndHeader: async ({ oidc }, claims, header) => {
        // A pushed request was checked when it came, and is kept as an object of its own.
        if ('PushedAuthorizationRequest' in oidc.entities) return
        const isBackchannel = oidc.route === 'backchannel_authentication'
        assertRequestObject(state, claims, { header, isBackchannel })
      },
    },
    pushedAuthorizationRequests: { enabled: true },
    richAuthorizationRequests: detailsConfiguration(state),
    revocation: { enabled: true, allowedPolicy: ownTokensOnly },
    rpInitiatedLogout: {
      enabled: state.endSession,
      // Shown to nobody: the front confirms at once, like hosted providers do.
      logoutSource: (ctx, form) => {
        ctx.body = form
      },
      postLogoutSuccessSource: (ctx) => {
        ctx.type = 'html'
        ctx.body = noticePage({
          title: 'Signed out',
          reason: 'You are signed out.',
          overview: state.mountPath + DEV_PATH,
        })
      },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: (ctx, _client, granted) => chooseResource(state, ctx, granted),
      useGrantedResource: (ctx) => resolveTarget(state, ctx) !== undefined,
      getResourceServerInfo: (_ctx, identifier) => {
        const api = state.apis.find(identifier)
        if (!api) throw new errors.InvalidTarget(describeUnknownAudience(state.apis))
        return toResourceServer(state, api)
      },
    },
  }
}
