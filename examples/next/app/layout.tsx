import { IdpProvider } from 'idp-client/react'
import type { Metadata, Viewport } from 'next'
import type { ReactNode } from 'react'
import { SiteFrame } from '../components/site-frame'
import { idp } from '../lib/auth'
import { colourOf } from '../lib/colour'
import '../styles/site.css'

export const metadata: Metadata = {
  title: { default: 'IdpClient demo', template: '%s · IdpClient demo' },
  description: 'Sign-in, sessions and protected pages with IdpClient and Next.js',
}

export const viewport: Viewport = { colorScheme: 'light dark' }

export default async function RootLayout({ children }: { children: ReactNode }) {
  const session = await idp.getSession()
  return (
    <html lang="en">
      <body>
        <IdpProvider user={session?.user ?? null} routes={idp.routes} basePath={idp.basePath}>
          <SiteFrame colour={colourOf(session)}>{children}</SiteFrame>
        </IdpProvider>
      </body>
    </html>
  )
}
