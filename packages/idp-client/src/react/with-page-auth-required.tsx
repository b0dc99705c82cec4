import type { ComponentType, ReactElement, ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { withQuery } from '../browser/with-query.ts'
import type { User } from '../session/model/session-data.ts'
import { usePage } from './provider.tsx'
import { useUser } from './use-user.ts'

export interface PageAuthOptions {
  /** Where the user arrives after the login; default: the page that asked, with query and fragment. */
  readonly returnTo?: string | undefined
  /** Shown while the user is being looked up and while the browser leaves for the login; default: nothing. */
  readonly onRedirecting?: (() => ReactNode) | undefined
  /** Shown when no user is known because the profile route failed; default: nothing. */
  readonly onError?: ((error: Error) => ReactNode) | undefined
}

/** Props of the page itself plus the user, whom `withPageAuthRequired` adds. */
export type PageWithUser<P> = P & { readonly user: User }

const nothing = (): ReactNode => null

/**
 * A client page for signed-in users only: renders the component with `user` as a prop, or sends the browser to the login
 * route. A user who is known stays on the page when a later request fails. It is not a security boundary, since
 * the component's code is public: data needs protection where it is served.
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
    const leftFor = useRef<unknown>(null)
    // Depends on the result as a whole: a page that is still here when the next answer says "nobody" leaves again.
    useEffect(() => {
      if (result.user || result.isLoading || result.error || leftFor.current === result) return
      leftFor.current = result
      const target = returnTo ?? location.pathname + location.search + location.hash
      location.assign(withQuery(login, { returnTo: target }))
    }, [result, login])
    // TypeScript cannot see that Omit<P, 'user'> plus user is P again.
    if (user) return <Component {...({ ...props, user } as PageWithUser<P>)} />
    return <>{error && !isLoading ? onError(error) : onRedirecting()}</>
  }
  Protected.displayName = `withPageAuthRequired(${Component.displayName || Component.name || 'Component'})`
  return Protected
}
