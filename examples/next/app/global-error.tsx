'use client'

import '../styles/site.css'

/** Also shown when the application lacks its configuration; the server's log then names what is missing. */
export default function GlobalError() {
  return (
    <html lang="en">
      <body>
        <title>Something went wrong · IdpClient demo</title>
        <main className="site hero">
          <h1>Something went wrong</h1>
          <p className="lead">The server could not render this page. Its log says why.</p>
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
