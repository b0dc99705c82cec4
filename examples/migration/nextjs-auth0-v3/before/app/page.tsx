import { getSession } from '@auth0/nextjs-auth0'
import { Greeting } from '@/components/greeting'

export default async function Home() {
  const session = await getSession()
  if (!session) return <a href="/api/auth/login">Log in</a>
  return (
    <p>
      <Greeting /> <a href="/api/auth/logout">Log out</a>
    </p>
  )
}
