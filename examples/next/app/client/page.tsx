import type { Metadata } from 'next'
import { PageHeader } from '../../components/page-header'
import { ClientProfile } from './client-profile'

export const metadata: Metadata = { title: 'Client page' }

export default function ClientPage() {
  return (
    <>
      <PageHeader title="Client page" kind="Client component" source="app/client/client-profile.tsx">
        Here the browser knows who you are, without holding a token. Protection of data stays with the server,
        as the API calls below show.
      </PageHeader>
      <ClientProfile />
    </>
  )
}
