import Link from 'next/link'

export default function NotFound() {
  return (
    <section className="hero">
      <h1>Page not found</h1>
      <p className="lead">There is no page at this address.</p>
      <p className="actions">
        <Link className="button button-primary" href="/">
          Back to the home page
        </Link>
      </p>
    </section>
  )
}
