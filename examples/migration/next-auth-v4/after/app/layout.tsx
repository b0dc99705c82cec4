import { IdpProvider } from 'idp-client/react'
import type { ReactNode } from 'react'

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <IdpProvider>{children}</IdpProvider>
      </body>
    </html>
  )
}
