import { Links, Meta, Outlet, Scripts, ScrollRestoration } from 'react-router'
import { idp } from './idp.server'

export const middleware = [idp.middleware]

export default function Root() {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <title>Example</title>
        <Meta />
        <Links />
      </head>
      <body>
        <Outlet />
        <ScrollRestoration />
        <Scripts />
      </body>
    </html>
  )
}
