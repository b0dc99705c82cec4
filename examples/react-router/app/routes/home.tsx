import { Link } from 'react-router'
import { idp } from '../idp.server'
import type { Route } from './+types/home'

export async function loader(args: Route.LoaderArgs) {
  const session = await idp.getSession(args)
  return { isSignedIn: session !== null }
}

export default function Home({ loaderData: { isSignedIn } }: Route.ComponentProps) {
  return (
    <>
      <p>{isSignedIn ? 'Signed in' : 'Signed out'}</p>
      <Link to="/account">Account</Link>{' '}
      {isSignedIn ? <a href="/auth/logout">Log out</a> : <a href="/auth/login">Log in</a>}
    </>
  )
}
