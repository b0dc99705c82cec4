import type { Metadata } from 'next'
import { Suspense } from 'react'
import { Code } from '../../components/code'
import { Loading } from '../../components/loading'
import { PageHeader } from '../../components/page-header'
import { UserCard } from '../../components/user-card'
import { idp } from '../../lib/auth'

export const metadata: Metadata = { title: 'Profile' }

export default function ProfilePage() {
  return (
    <>
      <PageHeader title="Profile" kind="Server component" code={<Code files={['app/profile/page.tsx']} />}>
        Rendered on the server from the claims in your session. Without a session you are sent to the login.
      </PageHeader>
      <Suspense fallback={<Loading />}>
        <Profile />
      </Suspense>
    </>
  )
}

const Profile = idp.withPageAuthRequired(
  async function Profile() {
    const session = await idp.getSession()
    return session ? <UserCard user={session.user} /> : null
  },
  { returnTo: '/profile' },
)
