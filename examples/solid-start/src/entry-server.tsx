import { createHandler, StartServer } from '@solidjs/start/server'
import { idp } from './idp'

const app = createHandler(() => (
  <StartServer
    document={({ assets, children, scripts }) => (
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          {assets}
        </head>
        <body>
          <div id="app">{children}</div>
          {scripts}
        </body>
      </html>
    )}
  />
))

export default { fetch: (request: Request) => idp.middleware(request, (passed) => app.fetch(passed)) }
