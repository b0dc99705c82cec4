import { Outlet, Scripts } from 'react-router'
import { idp } from './idp.server'

export const middleware = [idp.middleware]

export default function Root() {
  return (
    <html lang="en">
      <head>
        <title>Example</title>
      </head>
      <body>
        <Outlet />
        <Scripts />
      </body>
    </html>
  )
}
