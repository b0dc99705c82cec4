import type { User } from 'idp-client'
import Head from 'next/head'
import { PageHeader } from '../components/page-header'
import { ShowCode } from '../components/show-code'
import { UserCard } from '../components/user-card'
import { idp } from '../lib/auth'
import { readColour } from '../lib/colour'
import type { SourceFile } from '../lib/source'
import { readSource } from '../lib/source'

interface Props {
  readonly user: User
  readonly files: readonly SourceFile[]
}

export default function Legacy({ user, files }: Props) {
  return (
    <>
      <Head>
        <title>Pages Router · IdpClient demo</title>
      </Head>
      <PageHeader title="Pages Router" kind="getServerSideProps" code={<ShowCode files={files} />}>
        The same session, read by a page of the Pages Router. The guard adds your claims to the props of the
        page.
      </PageHeader>
      <UserCard user={user} />
    </>
  )
}

export const getServerSideProps = idp.withPageAuthRequired({
  async getServerSideProps({ req }) {
    const session = await idp.getSession(req)
    const files = [await readSource('pages/legacy.tsx')]
    return { props: { favouriteColour: readColour(session), files } }
  },
})
