import type { EventEmitter } from 'node:events'
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Failure } from '../wire/failure.ts'
import { noteFailure } from './inject.ts'
import type { ProviderState } from './state.ts'

/** Events by which oidc-provider reports that it refuses a request. */
const EVENTS = [
  'authorization.error',
  'backchannel_authentication.error',
  'end_session.error',
  'end_session_confirm.error',
  'grant.error',
  'introspection.error',
  'pushed_authorization_request.error',
  'revocation.error',
  'server_error',
  'userinfo.error',
] as const

type Explain = (state: ProviderState, ctx: KoaContextWithOIDC) => string

function parameter(ctx: KoaContextWithOIDC, name: string): string {
  const value = ctx.oidc.params?.[name] ?? ctx.query[name]
  return typeof value === 'string' ? value : ''
}

function list(values: Iterable<string>): string {
  return [...values].join(', ') || 'none'
}

const unregisteredCallback: Explain = ({ clients }, ctx) => {
  const registered = list(clients.find(ctx.oidc.client?.clientId ?? '')?.redirectUris ?? [])
  return `The redirect URI ${parameter(ctx, 'redirect_uri')} is not registered. Registered: ${registered}. Register it: --app and --callback on the command line, registerApp() in a test.`
}

const unregisteredLogout: Explain = ({ clients }, ctx) => {
  const client = clients.find(parameter(ctx, 'client_id') || (ctx.oidc.client?.clientId ?? ''))
  const registered = list(client?.postLogoutRedirectUris ?? [])
  return `The post-logout redirect URI ${parameter(ctx, 'post_logout_redirect_uri')} is not registered. Registered: ${registered}. Register it: --app or --logout-url on the command line, registerApp() in a test.`
}

/** By the description or detail of oidc-provider, which names neither what was sent nor what is registered. */
const EXPLANATIONS: Readonly<Record<string, Explain>> = {
  "redirect_uri did not match any of the client's registered redirect_uris": unregisteredCallback,
  'post_logout_redirect_uri not registered': unregisteredLogout,
  'client not found': ({ clients }) =>
    `There is no client with this id. Registered: ${list(clients.all().map(({ clientId }) => clientId))}.`,
}

function text(error: object, property: string): string {
  const value: unknown = Object.entries(error).find(([name]) => name === property)?.[1]
  return typeof value === 'string' ? value : ''
}

/** Returns the error code and the whole reason, for developers. */
export function toFailure(state: ProviderState, ctx: KoaContextWithOIDC, error: Error): Failure {
  const description = text(error, 'error_description')
  const detail = text(error, 'error_detail')
  const explain = EXPLANATIONS[detail] ?? EXPLANATIONS[description]
  const reasons = [description, detail].filter((reason) => reason !== '')
  return {
    error: text(error, 'error') || 'server_error',
    reason: explain?.(state, ctx) ?? (reasons.join(': ') || error.message),
  }
}

/** Puts the reason of every refusal into the request log. */
export function recordFailures(state: ProviderState, engine: Provider): void {
  const emitter: EventEmitter = engine
  for (const event of EVENTS) {
    emitter.on(event, (ctx: KoaContextWithOIDC, error: Error) =>
      noteFailure(ctx.req, toFailure(state, ctx, error)),
    )
  }
}
