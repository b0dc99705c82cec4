import type { Metadata } from 'next'
import { Code } from '../../components/code'
import { PageHeader } from '../../components/page-header'
import { ClientProfile } from './client-profile'

export const metadata: Metadata = { title: 'Client page' }

const files = ['app/client/client-profile.tsx', 'app/api/me/route.ts', 'pages/api/legacy-me.ts']

export default function ClientPage() {
  return (
    <>
      <PageHeader title="Client page" kind="Client component" code={<Code files={files} />}>
        The browser knows who you are without holding a token. The server protects the data, as the API calls
        below show.
      </PageHeader>
      <ClientProfile />
    </>
  )
}
