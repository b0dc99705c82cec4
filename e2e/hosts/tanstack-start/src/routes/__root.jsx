import { createRootRoute, Outlet } from '@tanstack/react-router'

export const Route = createRootRoute({ component: Root })

function Root() {
  return (
    <html lang="en">
      <body>
        <Outlet />
      </body>
    </html>
  )
}
