'use client'

import '../styles/site.css'

/** Also shown if the configuration is incomplete; the server log then names the missing variables. */
export default function GlobalError() {
  return (
    <html lang="en">
      <body>
        <title>Something went wrong · IdpClient demo</title>
        <main className="site hero">
          <h1>Something went wrong</h1>
          <p className="lead">The server could not render this page. See the server log for the reason.</p>
          <p className="actions">
            <a className="button button-primary" href="/">
              Try again
            </a>
          </p>
        </main>
      </body>
    </html>
  )
}
