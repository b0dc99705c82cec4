import { getSession, withPageAuthRequired } from '@auth0/nextjs-auth0'

export default withPageAuthRequired(
  async function Orders() {
    const session = await getSession()
    return <p>{`signed in as ${session?.user.sub}`}</p>
  },
  { returnTo: '/orders' },
)
