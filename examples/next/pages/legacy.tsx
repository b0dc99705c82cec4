import type { User } from 'idp-client'
import Head from 'next/head'
import { PageHeader } from '../components/page-header'
import { UserCard } from '../components/user-card'
import { idp } from '../lib/auth'
import { colourOf } from '../lib/colour'

export default function Legacy({ user }: { user: User }) {
  return (
    <>
      <Head>
        <title>Pages Router · IdpClient demo</title>
      </Head>
      <PageHeader title="Pages Router" kind="getServerSideProps" source="pages/legacy.tsx">
        The same session, read by a page of the Pages Router. The guard adds your claims to the page’s props.
      </PageHeader>
      <UserCard user={user} />
    </>
  )
}

export const getServerSideProps = idp.withPageAuthRequired({
  async getServerSideProps({ req }) {
    return { props: { favouriteColour: colourOf(await idp.getSession(req)) } }
  },
})
