import Link from 'next/link'
import { Suspense } from 'react'
import { Code } from '../components/code'
import { Loading } from '../components/loading'
import { SiteLink } from '../components/site-link'
import { idp } from '../lib/auth'
import { displayName } from '../lib/display-name'
import type { PageGroup } from '../lib/pages'
import { pageGroups } from '../lib/pages'

export default function Home() {
  return (
    <>
      <section className="hero">
        <Suspense fallback={<Loading />}>
          <Welcome />
        </Suspense>
        <Code files={['lib/auth.ts', 'proxy.ts', 'app/layout.tsx', 'app/page.tsx']} />
      </section>
      {pageGroups.map((group) => (
        <Tiles key={group.title} {...group} />
      ))}
    </>
  )
}

async function Welcome() {
  const session = await idp.getSession()
  if (!session) return <SignedOut />
  return (
    <>
      <h1>
        Hello, <bdi>{session.user.given_name ?? displayName(session.user)}</bdi>
      </h1>
      <p className="lead">You are signed in. Every page below uses your session in its own way.</p>
      <p className="actions">
        <Link className="button button-primary" href="/profile">
          Open your profile
        </Link>
        <a className="button" href="/auth/logout">
          Log out
        </a>
      </p>
    </>
  )
}

function SignedOut() {
  return (
    <>
      <h1>Server-side login for Next.js</h1>
      <p className="lead">
        Log in with an identity provider and use the session in server components, client components, API
        routes and server actions.
      </p>
      <p className="actions">
        <a className="button button-primary" href="/auth/login">
          Log in
        </a>
        <a className="button" href="/auth/login?screen_hint=signup">
          Sign up
        </a>
      </p>
    </>
  )
}

function Tiles({ title, pages }: PageGroup) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul className="tiles">
        {pages.map(({ href, title, kind, text }) => (
          <li className="card tile" key={href}>
            <p className="kind">{kind}</p>
            <h3>
              <SiteLink href={href}>{title}</SiteLink>
            </h3>
            <p>{text}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}
