import { IdpProvider } from 'idp-client/react'
import type { ReactNode } from 'react'
import { auth0 } from '@/lib/auth0'

export default async function Layout({ children }: { children: ReactNode }) {
  const session = await auth0.getSession()
  return (
    <html lang="en">
      <body>
        <IdpProvider user={session?.user}>{children}</IdpProvider>
      </body>
    </html>
  )
}
