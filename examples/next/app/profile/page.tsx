import type { Metadata } from 'next'
import { PageHeader } from '../../components/page-header'
import { UserCard } from '../../components/user-card'
import { idp } from '../../lib/auth'

export const metadata: Metadata = { title: 'Profile' }

export default idp.withPageAuthRequired(
  async function Profile() {
    const session = await idp.getSession()
    if (!session) return null
    return (
      <>
        <PageHeader title="Profile" kind="Server component" source="app/profile/page.tsx">
          This page was rendered on the server, from the claims in your session. Whoever is not signed in
          never sees it.
        </PageHeader>
        <UserCard user={session.user} />
      </>
    )
  },
  { returnTo: '/profile' },
)
