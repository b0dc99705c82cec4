import { auth0 } from '@/lib/auth0'

export default auth0.withPageAuthRequired(
  async function Orders() {
    const session = await auth0.getSession()
    return <p>{`signed in as ${session?.user.sub}`}</p>
  },
  { returnTo: '/orders' },
)
