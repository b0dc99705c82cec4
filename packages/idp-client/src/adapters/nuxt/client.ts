import type { IdpClientOptions } from '../../config/options.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import type { GuardResult, ResultFor } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { AnyApiGuardOptions } from '../../guards/requirements.ts'
import type { Binding } from '../../http/exchange.ts'
import { openBinding } from '../../http/host-state.ts'
import type { NodeResponse } from '../node/binding.ts'
import { NodeHostClient } from '../node/node-host.ts'
import { sendResponse } from '../node/send.ts'
import type { EventHandler, FrameworkRequest } from './event-handler.ts'
import { toGuarded } from './event-handler.ts'
import type { NitroApp } from './nitro-app.ts'
import { findBasePath, reportBasePath, toH3App } from './nitro-app.ts'
import { assertNotCached, bindSubRequest, current, reportSharedPage } from './sub-request.ts'

/** Response type of this entry: that of an event, which operations need not get. */
export type FrameworkResponse = NodeResponse

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/**
 * OpenID Connect for Nuxt 3 and 4, and for Nitro 2. Construct it once per process; it holds no state of any user. The module
 * `idp-client/nuxt/module` mounts it; without the module export its `plugin` as a Nitro plugin. Then operations in server routes,
 * server middleware and pages need no arguments, or the event. Elsewhere they throw `AMBIENT_REQUEST_MISSING`.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * // server/plugins/idp.ts
 * export default idp.plugin
 *
 * // server/api/orders.get.ts
 * export default idp.withApiAuthRequired(async (event) => {
 *   const session = await idp.getSession(event)
 *   return listOrders(session.user.sub)
 * })
 */
export class IdpClient extends NodeHostClient<FrameworkRequest, FrameworkResponse> {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(options, {
      mountLine:
        "modules: ['idp-client/nuxt/module'] in nuxt.config.ts, or export default idp.plugin in server/plugins/idp.ts.",
      isContext: (value) => 'node' in value && 'context' in value,
      toNode: ({ node: { req, res } }) => ({ request: req, response: res }),
    })
  }

  /**
   * The Nitro plugin that responds to requests for the auth routes, and runs every other request inside the ambient scope.
   * Bound to the instance.
   */
  readonly plugin = (nitroApp: NitroApp): void => {
    const { handler } = toH3App(nitroApp)
    const basePath = findBasePath(nitroApp)
    nitroApp.h3App.handler = async (event) => {
      if (basePath) await reportBasePath(this.application.settings, basePath)
      return this.serve(event, undefined, {
        binding: bindSubRequest(event.node.req),
        next: () => current.run(event, () => handler.call(nitroApp.h3App, event)),
        send: (response) => sendResponse(event.node.res, response),
      })
    }
  }

  /** @internal */
  protected override bind(event?: FrameworkRequest): Binding {
    if (!event) assertNotCached(this.application.settings.development)
    return (event && openBinding(event.node.req)) ?? super.bind(event)
  }

  /** @internal Reports that the server cannot decide about a page, because other users get the same response. */
  reportSharedPage(): void {
    reportSharedPage(this.application.settings.log)
  }

  /**
   * Returns the session of a request for a page, or the response that redirects the browser to a login: without a
   * session, or with one that does not meet the requirements. Throws as `withPageAuthRequired` does.
   *
   * @example
   * const { session, response } = await idp.requireLogin(event)
   * if (response) return response
   */
  async requireLogin(event: FrameworkRequest, options?: PageGuardOptions): Promise<GuardResult> {
    return this.pageGuard(options)(event)
  }

  /**
   * Returns the session of a request to an API, or the response that rejects it, as `withApiAuthRequired` does; with `accept` the
   * caller that it allows, by its session or access token.
   */
  async requireAuth<E extends AcceptEntry = never, S extends string = string>(
    event: FrameworkRequest,
    options?: AnyApiGuardOptions<E, S>,
  ): Promise<ResultFor<E>> {
    return this.apiGuard(options)(event)
  }

  /**
   * Wraps an event handler of a page: without a session, or with one that does not meet the requirements, redirects the
   * browser to a login that requests what is missing and returns to the page afterwards. Throws
   * `InvalidConfigurationError` for an unknown option; the handler throws `INSUFFICIENT_USER_AUTHENTICATION`,
   * `WRONG_ORGANIZATION` or `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements.
   */
  withPageAuthRequired<Result, Event extends FrameworkRequest = FrameworkRequest>(
    handler: (event: Event) => Result,
    options?: PageGuardOptions,
  ): EventHandler<Event, Result> {
    return toGuarded(this.pageGuard(options, 'withPageAuthRequired'), handler)
  }

  /**
   * Wraps an event handler of an API: without a session responds 401 with a JSON body, never with a redirect. A session that
   * does not meet the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403
   * (`organization`, `scope`). With `accept`, `event.context.idpAuth` is the caller. Throws `InvalidConfigurationError` for
   * an unknown option.
   */
  withApiAuthRequired<
    Result,
    Event extends FrameworkRequest = FrameworkRequest,
    E extends AcceptEntry = never,
    S extends string = string,
  >(handler: (event: Event) => Result, options?: AnyApiGuardOptions<E, S>): EventHandler<Event, Result> {
    return toGuarded(this.apiGuard(options, 'withApiAuthRequired'), handler)
  }
}
