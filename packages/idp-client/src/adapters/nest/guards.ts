import type { CanActivate, ExecutionContext, PipeTransform } from '@nestjs/common'
import { createParamDecorator, Inject, Injectable, UseGuards } from '@nestjs/common'
import { IdpError } from '../../errors/base.ts'
import { invalidAtStart } from '../../errors/configuration.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import type { Auth } from '../../guards/auth.ts'
import type { ApiGuardResult } from '../../guards/guards.ts'
import type { AnyApiGuardOptions } from '../../guards/requirements.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import type { FrameworkRequest, FrameworkResponse, PageGuardOptions } from './client.ts'
import { IdpClient, sendResponse } from './client.ts'

type Decide = (request: FrameworkRequest) => Promise<ApiGuardResult>

/** The callers that guards with `accept` have let pass, by their request. */
const accepted = new WeakMap<object, Auth>()

/** Returns the request of an execution context. Throws `INVALID_ARGUMENTS` for that of another transport. */
function toRequest(context: ExecutionContext): FrameworkRequest {
  if (context.getType() === 'http') return context.switchToHttp().getRequest<FrameworkRequest>()
  const detail = 'RequireLogin, RequireAuth and IdpSession are for handlers of HTTP requests.'
  throw new IdpError('INVALID_ARGUMENTS', { detail })
}

/**
 * Sends the response of a guard as it is. Settles only if that fails: Nest makes an exception of any other end of a guard, which filters of
 * the application may respond to.
 */
async function endRequest(context: ExecutionContext, response: Response): Promise<never> {
  await sendResponse(context.switchToHttp().getResponse<FrameworkResponse>(), response)
  return new Promise(() => {})
}

/** Returns the decorator of a guard, which is created when the application starts. */
function toDecorator(create: (client: IdpClient) => Decide): ClassDecorator & MethodDecorator {
  class IdpGuard implements CanActivate {
    readonly #decide: Decide

    constructor(client: IdpClient) {
      this.#decide = create(client)
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = toRequest(context)
      const result = await this.#decide(request)
      if (result.response) return endRequest(context, result.response)
      if (result.auth) accepted.set(request, result.auth)
      return true
    }
  }
  Injectable()(IdpGuard)
  Inject(IdpClient)(IdpGuard, undefined, 0)
  return UseGuards(IdpGuard)
}

/**
 * Protects the pages of a controller or method: without a session, or with one that does not meet the requirements,
 * redirects the browser to a login that requests what is missing and returns to the page afterwards. An unknown option
 * stops the start of the application. Requests fail with `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or
 * `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements.
 */
export function RequireLogin(options?: PageGuardOptions): ClassDecorator & MethodDecorator {
  return toDecorator((client) => client.createPageGuard(options))
}

/**
 * Protects the APIs of a controller or method: without a session responds 401 with a JSON body, never with a redirect. A
 * session that does not meet the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403
 * (`organization`, `scope`). An unknown option stops the start of the application. A function returns the options when the
 * application starts: `accept` needs resources of the client. If it returns no `accept`, write `RequireAuth<never>((idp) => ...)`,
 * so that `authorize` gets a session.
 *
 * @example
 * \@RequireAuth((idp) => ({ accept: ['session', idp.resource({ audience: 'https://api.example.com/' })] }))
 */
export function RequireAuth<E extends AcceptEntry, S extends string = string>(
  // Without a default of `E`, which TypeScript would take for `authorize` in a function.
  options: (idp: IdpClient) => AnyApiGuardOptions<E, S>,
): ClassDecorator & MethodDecorator
export function RequireAuth<E extends AcceptEntry = never, S extends string = string>(
  options?: AnyApiGuardOptions<E, S> | ((idp: IdpClient) => AnyApiGuardOptions<E, S>),
): ClassDecorator & MethodDecorator
export function RequireAuth<E extends AcceptEntry = never, S extends string = string>(
  options?: AnyApiGuardOptions<E, S> | ((idp: IdpClient) => AnyApiGuardOptions<E, S>),
): ClassDecorator & MethodDecorator {
  return toDecorator((client) => {
    if (typeof options !== 'function') return client.createApiGuard(options)
    const given: AnyApiGuardOptions<E, S> | undefined = options(client)
    if (given) return client.createApiGuard(given)
    const detail = 'RequireAuth: its function must return options.'
    throw invalidAtStart(detail)
  })
}

/** Reads the session with the client that the module of the controller gets. */
class SessionPipe implements PipeTransform {
  readonly #client: IdpClient

  constructor(client: IdpClient) {
    this.#client = client
  }

  transform(getRequest: () => FrameworkRequest): Promise<SessionData | null> {
    return this.#client.getSession(getRequest())
  }
}
Injectable()(SessionPipe)
Inject(IdpClient)(SessionPipe, undefined, 0)

// A function: global pipes run before ours, and may walk through any object.
const fromRequest = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => (): FrameworkRequest => toRequest(context),
)

/** Passes the session of the request to a parameter, or `null` if no user is signed in. */
export function IdpSession(): ParameterDecorator {
  return fromRequest(SessionPipe)
}

/** Reads the caller that the guard of the request has let pass. */
class AuthPipe implements PipeTransform {
  transform(getRequest: () => FrameworkRequest): Auth {
    const auth = accepted.get(getRequest())
    if (auth) return auth
    throw new IdpError('INVALID_ARGUMENTS', { detail: 'IdpAuth needs RequireAuth with the option accept.' })
  }
}
Injectable()(AuthPipe)

/** Passes the caller to a parameter, an `Auth`: behind `RequireAuth` with `accept`. */
export function IdpAuth(): ParameterDecorator {
  return fromRequest(AuthPipe)
}
