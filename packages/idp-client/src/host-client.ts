import type { IdpClientOptions } from './config/options.ts'
import { createApplication } from './engine.ts'
import { IdpError } from './errors/base.ts'
import type { InvalidConfigurationError } from './errors/configuration.ts'
import { invalidConfiguration } from './errors/configuration.ts'
import type { AcceptEntry } from './guards/accepted-auth.ts'
import type { ApiGuardResult, GuardResult, ResultFor } from './guards/guards.ts'
import type { HostPageGuardOptions } from './guards/host-guards.ts'
import { createApiGuard, createPageGuard, withFailurePages } from './guards/host-guards.ts'
import type { AnyApiGuardOptions, EitherGuardOptions } from './guards/requirements.ts'
import type { Binding, Exchange } from './http/exchange.ts'
import type { HostKinds } from './http/host-arguments.ts'
import type { MaybePromise } from './lib/chain.ts'
import { IdpClientBase } from './operations.ts'

/** The properties of a framework that its guards need. */
export interface GuardHost<Context> extends HostKinds {
  /** The line that mounts the middleware; if there is one, guards require it. */
  readonly mountLine?: string | undefined
  /** Page guards return the session, so that they throw what is no redirect: an incomplete configuration. */
  readonly redirectsOnly?: boolean | undefined
  /** Returns whether the middleware serves the request. */
  isOpen(context: Context): boolean
  /** Returns path and query of a page, to return to after a login. */
  toPath(context: Context, exchange: Exchange): string | undefined
}

/** Creates the error for a place where guards would pass the session, but which other code uses. */
export function placeTaken(place: string): InvalidConfigurationError {
  const detail = `${place} is set by other code: choose another name with the option sessionName.`
  return invalidConfiguration(detail)
}

/** The client of a framework whose guards decide about its contexts. */
export abstract class HostClient<
  Context extends FrameworkRequest,
  FrameworkRequest extends object,
  FrameworkResponse extends object,
> extends IdpClientBase<FrameworkRequest, FrameworkResponse> {
  readonly #host: GuardHost<Context>

  /** @internal */
  protected constructor(options: IdpClientOptions, host: GuardHost<Context>) {
    super(createApplication(options), host)
    this.#host = host
  }

  /**
   * @internal Creates the guard of a page: the session, or the redirect to a login. The response is a failure page while the
   * configuration is incomplete, for a host that does not belong to the application, and if `authorize` denies access.
   */
  protected pageGuard<Guarded extends Context>(
    options?: HostPageGuardOptions<Guarded>,
    name = 'requireLogin',
  ): (context: Guarded) => Promise<GuardResult> {
    const guard = createPageGuard<Guarded>(this.application, name, options)
    return async (context) =>
      this.decide(this.#toBinding(context, name), (exchange) => {
        const decide = (): Promise<GuardResult> =>
          guard(exchange, context, () => this.#host.toPath(context, exchange))
        return this.#host.redirectsOnly ? decide() : withFailurePages(this.application, exchange, decide)
      })
  }

  /** @internal Creates the guard of an API: the session, or the caller that `accept` allows, or a rejection with a JSON body. */
  protected apiGuard<Entry extends AcceptEntry = never, Scope extends string = string>(
    options?: AnyApiGuardOptions<Entry, Scope>,
    name?: string,
  ): (context: Context) => Promise<ResultFor<Entry>>
  protected apiGuard(
    options?: EitherGuardOptions,
    name?: string,
  ): (context: Context) => Promise<ApiGuardResult>
  protected apiGuard(options?: object, name = 'requireAuth'): (context: Context) => Promise<ApiGuardResult> {
    const guard = createApiGuard(this.application, name, options)
    return async (context) => this.decide(this.#toBinding(context, name), guard)
  }

  /** @internal Creates the error for an operation or a guard outside the middleware. */
  protected requestMissing(name = 'The operation'): IdpError {
    const { mountLine } = this.#host
    const detail = `${name} needs the middleware in front of it: ${mountLine}`
    return new IdpError('AMBIENT_REQUEST_MISSING', mountLine ? { detail } : {})
  }

  /** @internal Lets a guard decide about a request. Caches must not store the response to a session that it accepts. */
  protected async decide<Result extends ApiGuardResult>(
    bound: MaybePromise<Binding>,
    guard: (exchange: Exchange) => Promise<Result>,
  ): Promise<Result> {
    const binding = await bound
    const result = await guard(binding.exchange)
    if (result.session) binding.forbidStoring?.()
    return result
  }

  /** Returns the binding of a context. Throws `AMBIENT_REQUEST_MISSING` if the middleware is missing. */
  #toBinding(context: Context, guard: string): MaybePromise<Binding> {
    if (this.#host.mountLine !== undefined && !this.#host.isOpen(context)) throw this.requestMissing(guard)
    return this.bind(context)
  }
}
