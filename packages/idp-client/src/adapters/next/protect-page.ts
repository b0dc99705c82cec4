import type { GetServerSideProps, GetServerSidePropsContext, GetServerSidePropsResult } from 'next'
import type { ReactNode } from 'react'
import type { Application } from '../../engine.ts'
import { IdpError } from '../../errors/base.ts'
import { isForbidden } from '../../guards/guards.ts'
import { createPageGuard } from '../../guards/host-guards.ts'
import type { GuardRequirements } from '../../guards/requirements.ts'
import type { RequestHeaders } from '../../http/exchange.ts'
import type { User } from '../../session/model/session-data.ts'
import { bindNode } from '../node/binding.ts'
import { bindAmbient } from './ambient.ts'
import { RETURN_PATH, withoutRouterParameter } from './forward.ts'
import { reportUnreached } from './mount-check.ts'
import { markPageGuard } from './page-guards.ts'

export interface PageGuardOptions<Props> extends GuardRequirements {
  /**
   * Path to redirect to after the login; always on the application's origin. Default: path and query of the request in
   * the proxy; without the proxy `signInReturnToPath`.
   */
  returnTo?: string | ((props: Props) => string | Promise<string>)
}

export type PageComponent<Props> = (props: Props) => ReactNode | Promise<ReactNode>

export interface PagesGuardOptions<Props extends Record<string, unknown> = Record<string, unknown>>
  extends GuardRequirements {
  /** Runs only for signed-in users. */
  getServerSideProps?: GetServerSideProps<Props>
  /**
   * Path to redirect to after the login; always on the application's origin. Default: path and query of the request in
   * the proxy; without the proxy the URL of the page.
   */
  returnTo?: string | ((context: GetServerSidePropsContext) => string | Promise<string>)
}

const GUARD_NAME = 'withPageAuthRequired'

/**
 * Returns where a response redirects to, without the base path, which Next.js adds to redirects of pages. Throws `ACCESS_DENIED`
 * for a response that denies access: Next.js renders the page of an error itself.
 */
function toDestination({ settings: { basePath } }: Application, response: Response): string {
  if (isForbidden(response)) throw new IdpError('ACCESS_DENIED')
  const { headers } = response
  return (headers.get('location') ?? '').slice(basePath.length)
}

/**
 * Redirects from a page of the App Router. It also renders for a form that was posted without scripts; the status of Next.js, 307,
 * would repeat the `POST` at the login route. Components do not get the method, but only such a request has a body.
 */
async function redirectTo(destination: string, headers: RequestHeaders): Promise<never> {
  // Not imported at the top: Pages Router and proxy load this file too, and do not need React's client hooks.
  const { redirect } = await import('next/navigation.js')
  try {
    return redirect(destination)
  } catch (error) {
    if (headers.has('content-type') && error instanceof Error && 'digest' in error)
      error.digest = String(error.digest).replace(/;307;$/, ';303;')
    throw error
  }
}

export function protectAppPage<Props>(
  application: Application,
  component: PageComponent<Props>,
  options: PageGuardOptions<Props> = {},
): (props: Props) => Promise<ReactNode> {
  const guard = createPageGuard(application, GUARD_NAME, options)
  markPageGuard()
  return async (props) => {
    const { exchange } = await bindAmbient()
    reportUnreached(application, exchange.request.headers)
    const path = (): string | undefined => exchange.request.headers.get(RETURN_PATH) ?? undefined
    const { response } = await guard(exchange, props, path)
    if (!response) return component(props)
    return redirectTo(toDestination(application, response), exchange.request.headers)
  }
}

/** Returns the URL path of the page for the browser: Next.js has removed a locale other than the default. */
function toReturnTo({ locale, defaultLocale, resolvedUrl }: GetServerSidePropsContext): string {
  const url = withoutRouterParameter(resolvedUrl)
  return locale === undefined || locale === defaultLocale ? url : `/${locale}${url}`
}

async function withUser<Props extends Record<string, unknown>>(
  result: GetServerSidePropsResult<Props>,
  user: User,
): Promise<GetServerSidePropsResult<Props & { user: User }>> {
  if (!('props' in result)) return result
  return { ...result, props: { user, ...(await result.props) } }
}

export function protectPagesPage<Props extends Record<string, unknown>>(
  application: Application,
  options: PagesGuardOptions<Props>,
): GetServerSideProps<Props & { user: User }> {
  const guard = createPageGuard<GetServerSidePropsContext>(application, GUARD_NAME, options, [
    'getServerSideProps',
  ])
  markPageGuard()
  return async (context) => {
    const { exchange } = bindNode(context.req, context.res)
    reportUnreached(application, exchange.request.headers)
    const path = (): string => exchange.request.headers.get(RETURN_PATH) ?? toReturnTo(context)
    const { response, session } = await guard(exchange, context, path)
    if (response) {
      const destination = toDestination(application, response)
      if (response.status === 303) return { redirect: { destination, statusCode: 303 } }
      return { redirect: { destination, permanent: false } }
    }
    const { user } = session
    if (!options.getServerSideProps) return { props: { user } as Props & { user: User } }
    return withUser(
      await options.getServerSideProps(context as Parameters<typeof options.getServerSideProps>[0]),
      user,
    )
  }
}
