import type { IdpClientOptions } from '../../config/options.ts'
import type { AcceptEntry, AcceptedAuth } from '../../guards/accepted-auth.ts'
import type { Auth } from '../../guards/auth.ts'
import { isForbidden } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { ApiGuardOptions, EitherGuardOptions, ResourceGuardOptions } from '../../guards/requirements.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import type { WebTarget } from '../web/binding.ts'
import { WebHostClient } from '../web/web-host.ts'
import { reportBasename } from './basename.ts'

/** Request type of this entry: the arguments of middleware, loaders and actions of React Router. */
export interface FrameworkRequest {
  readonly request: Request
  /** The `RouterContextProvider` of the request, which all its middleware, loaders and actions share. */
  readonly context: object
  /** URL of the page; since React Router 7.14. */
  readonly url?: URL
  /** Path of the matched route below the `basename`, such as `/auth/*`; since React Router 7.15. */
  readonly pattern?: string
  readonly params?: Readonly<Record<string, string | undefined>>
}
/** Response type of this entry: a response that a loader or action returns, or its headers. */
export type FrameworkResponse = WebTarget

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/** Returns path and query of a page, without what React Router adds to the URL of a request for its data. */
function toPath(page: FrameworkRequest, { pathname, search }: URL): string {
  const query = search.slice(1).split('&')
  const own = query.filter((part) => part !== 'index' && !part.startsWith('_routes=')).join('&')
  const path = pathname.endsWith('.data') && page.url ? page.url.pathname : pathname
  return own === '' ? path : `${path}?${own}`
}

/**
 * OpenID Connect for React Router 7 and 8 in framework mode. Construct it once per process; it holds no state of any user.
 * Mount `middleware` in the root route, and `loader` and `action` of this entry at `auth/*`. Inside the middleware operations
 * need no arguments, or those of the loader or action; elsewhere they throw `AMBIENT_REQUEST_MISSING`.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * // app/root.tsx
 * export const middleware = [idp.middleware]
 *
 * // a route module
 * export async function loader(args: Route.LoaderArgs) {
 *   const { user } = await idp.requireLogin(args)
 *   return { name: user.name }
 * }
 */
export class IdpClient extends WebHostClient<FrameworkRequest> {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(options, {
      mountLine:
        'export const middleware = [idp.middleware] in app/root.tsx, of React Router 7.9 or later; version 7 also needs future: { v8_middleware: true } in react-router.config.ts.',
      redirectsOnly: true,
      isContext: (value) => 'request' in value && 'context' in value,
      toRequest: ({ request }) => request,
      // React Router passes copies of the request to loaders and actions.
      toIdentity: ({ context }) => context,
      toPath,
    })
  }

  /**
   * Responds to requests for the auth routes; passes any other request to the routes, inside the ambient scope, and adds
   * the cookies to their response. Bound to the instance.
   */
  readonly middleware = async (args: FrameworkRequest, next: () => Promise<Response>): Promise<Response> => {
    reportBasename(this.application.settings, args)
    return this.serve(args, next)
  }

  /**
   * Returns the session of a request for a page. Without a session, or with one that does not meet the requirements, throws
   * a redirect to a login that requests what is missing and returns to the page afterwards. Throws
   * `InvalidConfigurationError` for an unknown option; `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or
   * `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements. If `authorize` denies access, throws a
   * response with 403.
   */
  async requireLogin(args: FrameworkRequest, options?: PageGuardOptions): Promise<SessionData> {
    const { session, response } = await this.pageGuard(options)(args)
    if (session) return session
    throw isForbidden(response) ? response : this.#toDocumentRedirect(response)
  }

  /**
   * Returns the session of a request to an API (a route module without a component). Otherwise throws the response that
   * rejects it: 401 without a session, with a JSON body, never a redirect; 401 with the challenge of RFC 9470 (`maxAge`,
   * `acr`, `amr`) or 403 (`organization`, `scope`) for a session that does not meet the requirements. Throws
   * `InvalidConfigurationError` for an unknown option.
   */
  requireAuth(args: FrameworkRequest, options?: ApiGuardOptions): Promise<SessionData>
  /** Returns the caller that `accept` allows, by its session or access token. Otherwise throws the response that rejects it. */
  requireAuth<E extends AcceptEntry, S extends string = string>(
    args: FrameworkRequest,
    options: ResourceGuardOptions<E, S>,
  ): Promise<AcceptedAuth<E>>
  async requireAuth(args: FrameworkRequest, options?: EitherGuardOptions): Promise<SessionData | Auth> {
    const result = await this.apiGuard(options)(args)
    if (result.response) throw result.response
    return result.auth ?? result.session
  }

  /** Makes a redirect that React Router's client follows by a navigation of the browser. */
  #toDocumentRedirect(response: Response): Response {
    const { headers } = response
    const { basePath } = this.application.settings
    const location = headers.get('location') ?? '/'
    // React Router adds its `basename` to the path of a redirect.
    if (location.startsWith(`${basePath}/`)) headers.set('location', location.slice(basePath.length))
    headers.set('x-remix-reload-document', 'true')
    return response
  }
}

/**
 * The route module of `auth/*`, without which React Router runs no middleware for these paths; responds 404, because the
 * middleware has responded to those of the auth routes. It must have no component: React Router would then reject the
 * cross-site POST requests of a provider (`response_mode=form_post`).
 *
 * @example
 * // app/routes/auth.ts; in app/routes.ts: route('auth/*', 'routes/auth.ts')
 * export { action, loader } from 'idp-client/react-router'
 */
export function loader(): Response {
  return new Response('Not found', { status: 404 })
}

/** See `loader`. */
export const action: () => Response = loader
