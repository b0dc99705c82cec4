import { Link } from 'react-router'
import { idp } from '../idp.server'
import type { Route } from './+types/account'

export async function loader(args: Route.LoaderArgs) {
  const { user } = await idp.requireLogin(args)
  return { sub: user.sub }
}

export default function Account({ loaderData: { sub } }: Route.ComponentProps) {
  return (
    <>
      <p id="user">{sub}</p>
      <Link to="/">Home</Link>
    </>
  )
}
