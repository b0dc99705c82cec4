import { createFileRoute, Link } from '@tanstack/react-router'
import { getUser } from '../session'

export const Route = createFileRoute('/')({ loader: () => getUser(), component: Home })

function Home() {
  const user = Route.useLoaderData()
  return (
    <>
      <p>{user ? 'Signed in' : 'Signed out'}</p>
      <Link to="/account">Account</Link>{' '}
      {user ? <a href="/auth/logout">Log out</a> : <a href="/auth/login">Log in</a>}
    </>
  )
}
