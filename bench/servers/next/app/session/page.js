import { getSession } from '../../product'

export const dynamic = 'force-dynamic'

export default async function Page() {
  const session = await getSession()
  return <h1>{session ? `Signed in as ${session.user.sub}` : 'Not signed in'}</h1>
}
