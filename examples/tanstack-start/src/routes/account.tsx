import { createFileRoute, Link } from '@tanstack/react-router'
import { requireUser } from '../session'

export const Route = createFileRoute('/account')({
  beforeLoad: async ({ location }) => ({ user: await requireUser({ data: location.href }) }),
  component: Account,
})

function Account() {
  const { user } = Route.useRouteContext()
  return (
    <>
      <p id="user">{user.sub}</p>
      <Link to="/">Home</Link>
    </>
  )
}
