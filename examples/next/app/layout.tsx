import { IdpProvider } from 'idp-client/react'
import type { Metadata, Viewport } from 'next'
import type { ReactNode } from 'react'
import { Suspense } from 'react'
import { SiteFrame } from '../components/site-frame'
import { idp } from '../lib/auth'
import { readColour } from '../lib/colour'
import '../styles/site.css'

export const metadata: Metadata = {
  title: { default: 'IdpClient demo', template: '%s · IdpClient demo' },
  description: 'Login, sessions and protected pages with IdpClient and Next.js',
}

export const viewport: Viewport = { colorScheme: 'light dark' }

interface Props {
  readonly children: ReactNode
}

export default function RootLayout({ children }: Props) {
  return (
    <html lang="en">
      <body>
        <Suspense fallback={<SiteFrame />}>
          <Site>{children}</Site>
        </Suspense>
      </body>
    </html>
  )
}

/** Reads the session once, for the header, the accent colour and `useUser`. */
async function Site({ children }: Props) {
  const session = await idp.getSession()
  return (
    <IdpProvider user={session?.user ?? null} routes={idp.routes} basePath={idp.basePath}>
      <SiteFrame colour={readColour(session)}>{children}</SiteFrame>
    </IdpProvider>
  )
}
