import { idp } from '@/lib/idp'

export default idp.withPageAuthRequired(async function Account() {
  const session = await idp.getSession()
  return <p>{`signed in as ${session?.user.sub}`}</p>
})
