import { reportFrameworkBase } from '../../config/framework-base.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { AnyApiGuardOptions } from '../../guards/requirements.ts'
import { empty } from '../../http/responses.ts'
import { isSvelteKitBuild } from '../../lib/node-env.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import type { SessionProperty } from '../web/session-property.ts'
import { createSessionProperty } from '../web/session-property.ts'
import { ambient, WebHostClient } from '../web/web-host.ts'
import { toLocals } from '../web/with-auth.ts'
import { isLinkInBuild } from './build.ts'
import type { FrameworkRequest, FrameworkResponse, HandleInput } from './event.ts'
import { toPath } from './event.ts'
import { throwRejection, withCookiesOfRedirects } from './redirects.ts'
import { serveSubRequest } from './sub-request.ts'

// SvelteKit's Vite plugin replaces this name by `paths.base` in everything that it bundles; elsewhere it is not defined.
declare const __SVELTEKIT_PATHS_BASE__: string | undefined

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/** Options of the client of `idp-client/sveltekit`. */
export interface SvelteKitOptions extends IdpClientOptions {
  /** Name of the property of `event.locals` that has the session. Default: `idpSession`. */
  sessionName?: string
}

/**
 * OpenID Connect for SvelteKit 2 and later. Construct it once per process; it holds no state of any user. Inside
 * `handle` operations need no arguments; they also accept the `event`.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * // src/hooks.server.ts
 * export const handle = idp.handle
 * // src/routes/account/+page.server.ts
 * export const load = async (event) => ({ user: (await idp.requireLogin(event)).user })
 */
export class IdpClient extends WebHostClient<FrameworkRequest> {
  readonly #session: SessionProperty

  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor({ sessionName = 'idpSession', ...options }: SvelteKitOptions = {}) {
    super(options, {
      mountLine: 'export const handle = idp.handle in src/hooks.server.ts',
      redirectsOnly: true,
      isContext: (value) => 'locals' in value && 'request' in value,
      toRequest: ({ request }) => request,
      toPath,
    })
    this.#session = createSessionProperty(sessionName)
  }

  /**
   * The `handle` hook: responds to requests for the auth routes, passes any other request to the application and extends
   * its session if due. `event.locals.idpSession` is the session, or `null`; reading it throws if the session could not
   * be loaded. Once the response has been returned, the request is read-only (`SESSION_NOT_WRITABLE`), also for promises
   * that a load function streams. Pages that are prerendered have no session, and links to auth routes are not followed.
   * Bound to the instance.
   */
  readonly handle = async <Event extends FrameworkRequest>({
    event,
    resolve,
  }: HandleInput<Event>): Promise<FrameworkResponse> => {
    const base = typeof __SVELTEKIT_PATHS_BASE__ === 'string' ? __SVELTEKIT_PATHS_BASE__ : undefined
    reportFrameworkBase(this.application.settings, base)
    const respond = async (): Promise<FrameworkResponse> => {
      await this.#session.define(event.locals, async () =>
        isSvelteKitBuild() ? null : this.getSession(event),
      )
      return resolve(event)
    }
    const { request } = event
    if (!event.isSubRequest && isLinkInBuild(this.application, request)) return empty(204)
    // Without cookies (`credentials: 'omit'`) it is anonymous.
    const outer = event.isSubRequest && request.headers.has('cookie') ? ambient.getStore() : undefined
    return outer
      ? serveSubRequest({ application: this.application, client: this, outer, request }, respond)
      : this.serve(event, () => withCookiesOfRedirects(event, this.bind(event).exchange.cookies, respond))
  }

  /**
   * Returns the session in a load function or form action. Without a session, or with one that does not meet the
   * requirements, throws SvelteKit's redirect to a login that requests what is missing and returns to the page
   * afterwards. Throws `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or `INSUFFICIENT_SCOPE` if such a login
   * has just failed to meet the requirements; SvelteKit's error 403 if `authorize` denies access.
   */
  async requireLogin(event: FrameworkRequest, options?: PageGuardOptions): Promise<SessionData> {
    const { session, response } = await this.pageGuard(options)(event)
    return session ?? throwRejection(response)
  }

  /**
   * Wraps a handler of `+server.ts`: without a session responds 401 with a JSON body, never with a redirect. A session
   * that does not meet the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403
   * (`organization`, `scope`). With `accept`, `event.locals.idpAuth` is the caller. Throws `InvalidConfigurationError` for
   * an unknown option.
   *
   * @example
   * export const GET = idp.requireAuth(async (event) => Response.json(await idp.getSession(event)))
   */
  requireAuth<Event extends FrameworkRequest, E extends AcceptEntry = never, S extends string = string>(
    handler: (event: Event) => FrameworkResponse | Promise<FrameworkResponse>,
    options?: AnyApiGuardOptions<E, S>,
  ): (event: Event) => Promise<FrameworkResponse> {
    const guard = this.apiGuard(options)
    return async (event) => toLocals(event, await guard(event)).response ?? handler(event)
  }
}
