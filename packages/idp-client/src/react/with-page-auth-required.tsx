import type { ComponentType, ReactElement, ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { withQuery } from '../browser/with-query.ts'
import type { User } from '../session/model/session-data.ts'
import { usePage } from './provider.tsx'
import { useUser } from './use-user.ts'

export interface PageAuthOptions {
  /** Path to redirect to after the login; default: the current page, with query and fragment. */
  readonly returnTo?: string | undefined
  /** Rendered while the user is loading and while the browser leaves for the login; default: nothing. */
  readonly onRedirecting?: (() => ReactNode) | undefined
  /** Rendered if no user is known because the profile route failed; default: nothing. */
  readonly onError?: ((error: Error) => ReactNode) | undefined
}

/** Props of the page and the user, which `withPageAuthRequired` adds. */
export type PageWithUser<P> = P & { readonly user: User }

const nothing = (): ReactNode => null

/**
 * Wraps a client page for signed-in users: renders the component with `user` as a prop, or redirects the browser to the
 * login route. A known user stays on the page if a later request fails. This does not protect data: the component's
 * code is public, so protect data where it is served.
 *
 * @example
 * export default withPageAuthRequired(function Page({ user }: { user: User }) { return <p>{user.email}</p> })
 */
export function withPageAuthRequired<P extends object>(
  Component: ComponentType<PageWithUser<P>>,
  { returnTo, onRedirecting = nothing, onError = nothing }: PageAuthOptions = {},
): (props: Omit<P, 'user'>) => ReactElement {
  function Protected(props: Omit<P, 'user'>): ReactElement {
    const result = useUser()
    const { login } = usePage().urls
    const { user, isLoading, error } = result
    const redirectedFor = useRef<unknown>(null)
    // Depends on the whole result: if the page is still open when the next response has no user, it redirects again.
    useEffect(() => {
      if (result.user || result.isLoading || result.error || redirectedFor.current === result) return
      redirectedFor.current = result
      const target = returnTo ?? location.pathname + location.search + location.hash
      location.assign(withQuery(login, { returnTo: target }))
    }, [result, login])
    // TypeScript cannot infer that `Omit<P, 'user'>` plus `user` is `P` again.
    if (user) return <Component {...({ ...props, user } as PageWithUser<P>)} />
    return <>{error && !isLoading ? onError(error) : onRedirecting()}</>
  }
  Protected.displayName = `withPageAuthRequired(${Component.displayName || Component.name || 'Component'})`
  return Protected
}
