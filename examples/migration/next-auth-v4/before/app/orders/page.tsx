import { getServerSession } from 'next-auth'
import { authOptions } from '@/lib/auth-options'

export default async function Orders() {
  const session = await getServerSession(authOptions)
  return <p>{`signed in as ${session?.sub}`}</p>
}
