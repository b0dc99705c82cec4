import { Greeting } from '@/components/greeting'
import { auth0 } from '@/lib/auth0'

export default async function Home() {
  const session = await auth0.getSession()
  if (!session) return <a href="/auth/login?returnTo=/orders">Log in</a>
  return (
    <p>
      <Greeting /> <a href="/auth/logout">Log out</a>
    </p>
  )
}
