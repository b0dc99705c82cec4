import Link from 'next/link'
import { SiteLink } from '../components/site-link'
import { idp } from '../lib/auth'
import { displayName } from '../lib/display-name'

const tiles = [
  {
    href: '/profile',
    title: 'Profile',
    kind: 'Server component',
    text: 'A protected page that is rendered on the server. Without a session it leads to the login and back.',
  },
  {
    href: '/client',
    title: 'Client page',
    kind: 'Client component',
    text: 'The user in the browser with useUser, and calls to protected API routes of both routers.',
  },
  {
    href: '/orders',
    title: 'Orders',
    kind: 'Access token',
    text: 'A protected API in a process of its own, called by the server and by the browser with an access token.',
  },
  {
    href: '/transfer',
    title: 'Transfer money',
    kind: 'Second factor',
    text: 'A transfer that needs one more proof that it is you: on the page, in a popup or at the provider.',
  },
  {
    href: '/accounts',
    title: 'Connected accounts',
    kind: 'Account API',
    text: 'Connects an account that you have elsewhere, lists and disconnects it, and gets a token for it.',
  },
  {
    href: '/devices',
    title: 'Devices',
    kind: 'Session store',
    text: 'Every browser in which you are signed in, and a button that ends the session of another one.',
  },
  {
    href: '/settings',
    title: 'Settings',
    kind: 'Server action',
    text: 'Keeps a preference in the session. Pick a colour and the whole site follows.',
  },
  {
    href: '/inspector',
    title: 'Session inspector',
    kind: 'Server component',
    text: 'Claims, token life and cookie sizes of the current session. Token values never leave the server.',
  },
  {
    href: '/legacy',
    title: 'Pages Router',
    kind: 'getServerSideProps',
    text: 'The same session in a page of the Pages Router, in the same application.',
  },
  {
    href: '/api/me',
    title: 'Protected API',
    kind: 'Route handler',
    text: 'JSON for a signed-in user, status 401 for everybody else. Open it before and after the login.',
  },
]

export default async function Home() {
  const session = await idp.getSession()
  return (
    <>
      <section className="hero">
        {session ? (
          <>
            <h1>
              Hello, <bdi>{session.user.given_name ?? displayName(session.user)}</bdi>
            </h1>
            <p className="lead">You are signed in. Every page below now shows your session in its own way.</p>
            <p className="actions">
              <Link className="button button-primary" href="/profile">
                Open your profile
              </Link>
              <a className="button" href="/auth/logout">
                Log out
              </a>
            </p>
          </>
        ) : (
          <>
            <h1>Sign-in for Next.js, from the server</h1>
            <p className="lead">
              Log in with the identity provider and see the session in server components, client components,
              API routes and server actions.
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
        )}
      </section>
      <section aria-labelledby="pages-title">
        <h2 id="pages-title">What this demo shows</h2>
        <ul className="tiles">
          {tiles.map(({ href, title, kind, text }) => (
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
    </>
  )
}
