import { getSession } from '@auth0/nextjs-auth0'

export default async function Account() {
  const session = await getSession()
  return <p>{`signed in as ${session?.user.sub}`}</p>
}
