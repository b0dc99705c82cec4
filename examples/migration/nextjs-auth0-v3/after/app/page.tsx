import { Greeting } from '@/components/greeting'
import { idp } from '@/lib/idp'

export default async function Home() {
  const session = await idp.getSession()
  if (!session) return <a href="/api/auth/login">Log in</a>
  return (
    <p>
      <Greeting /> <a href="/api/auth/logout">Log out</a>
    </p>
  )
}
