import { Auth0Provider } from '@auth0/nextjs-auth0/client'
import type { ReactNode } from 'react'
import { auth0 } from '@/lib/auth0'

export default async function Layout({ children }: { children: ReactNode }) {
  const session = await auth0.getSession()
  return (
    <html lang="en">
      <body>
        <Auth0Provider user={session?.user}>{children}</Auth0Provider>
      </body>
    </html>
  )
}
