import { Outlet } from 'react-router'
import { idp } from './idp.server.js'

export const middleware = [idp.middleware]

export default function Root() {
  return (
    <html lang="en">
      <body>
        <Outlet />
      </body>
    </html>
  )
}

export function ErrorBoundary() {
  return <p>failed</p>
}
