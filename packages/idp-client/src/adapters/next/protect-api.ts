import type { NextApiHandler, NextApiRequest, NextApiResponse } from 'next'
import type { NextRequest } from 'next/server.js'
import type { Application } from '../../engine.ts'
import type { Auth } from '../../guards/auth.ts'
import type { ApiGuardResult } from '../../guards/guards.ts'
import type { ApiGuard } from '../../guards/host-guards.ts'
import { createApiGuard } from '../../guards/host-guards.ts'
import type { EitherGuardOptions } from '../../guards/requirements.ts'
import { bindNode } from '../node/binding.ts'
import { forbidStoring } from '../node/response.ts'
import { sendResponse } from '../node/send.ts'
import { withoutStoring } from '../web/continue.ts'
import { sharing } from './ambient.ts'
import { markPagesRun } from './page-guards.ts'
import { isWebRequest, toExchange, toNextResponse } from './web.ts'

/** A route handler of the App Router; the context contains its path parameters. */
export type AppRouteHandler<Context = unknown, Result = Response | Promise<Response>> = (
  request: NextRequest,
  context: Context,
) => Result

/** A request to an API route of the Pages Router, behind a guard with `accept`. */
export type AuthApiRequest<Caller extends Auth = Auth> = NextApiRequest & {
  /** The caller that the guard has let pass. */
  readonly idpAuth: Caller
}

/** An API route of the Pages Router, behind a guard with `accept`. */
export type AuthApiHandler<Caller extends Auth = Auth> = (
  request: AuthApiRequest<Caller>,
  response: NextApiResponse,
) => unknown

type Check = ApiGuard<ApiGuardResult>

async function protectApp<Context>(
  check: Check,
  handler: AppRouteHandler<Context>,
  request: NextRequest,
  context: Context,
): Promise<Response> {
  // Read first: it tells Next.js that the response depends on the request and must not be prerendered.
  const exchange = toExchange(request, false)
  const result = await check(exchange)
  if (result.response) return toNextResponse(result.response)
  const passed = result.auth ? ({ ...context, auth: result.auth } as Context) : context
  const response = await sharing(exchange, () => handler(request, passed))
  if (!(response instanceof Response)) return response
  return toNextResponse(result.session ? withoutStoring(response) : response)
}

async function protectPages(
  check: Check,
  handler: NextApiHandler,
  request: NextApiRequest,
  response: NextApiResponse,
): Promise<unknown> {
  const result = await check(bindNode(request).exchange)
  if (result.response) return sendResponse(response, result.response)
  if (result.auth) Reflect.set(request, 'idpAuth', result.auth)
  if (result.session) forbidStoring(response)
  return handler(request, response)
}

type AnyHandler = AppRouteHandler<never> | NextApiHandler | AuthApiHandler<never>

/** Wraps a handler of either router; which one is only known from the arguments of each call. */
export function protectApi(application: Application, handler: AnyHandler, options: EitherGuardOptions) {
  const check = createApiGuard(application, 'withApiAuthRequired', options)
  return (first: NextRequest | NextApiRequest, second: unknown): Promise<unknown> => {
    markPagesRun()
    return isWebRequest(first)
      ? protectApp(check, handler as AppRouteHandler, first as NextRequest, second)
      : protectPages(check, handler as NextApiHandler, first, second as NextApiResponse)
  }
}
