import type { Metadata } from 'next'
import Link from 'next/link'
import { Suspense } from 'react'
import { Code } from '../../components/code'
import { Loading } from '../../components/loading'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { readColour } from '../../lib/colour'
import { ColourForm } from './colour-form'

export const metadata: Metadata = { title: 'Settings' }

const files = ['app/settings/page.tsx', 'app/settings/actions.ts', 'app/reauthenticate/route.ts']

export default function SettingsPage() {
  return (
    <>
      <PageHeader title="Settings" kind="Server action" code={<Code files={files} />}>
        A server action stores your choice in the session. It is kept until you log out.
      </PageHeader>
      <Suspense fallback={<Loading />}>
        <Settings />
      </Suspense>
    </>
  )
}

const Settings = idp.withPageAuthRequired(
  async function Settings() {
    const session = await idp.getSession()
    return (
      <>
        <ColourForm current={readColour(session)} />
        <section className="card" aria-labelledby="confirm-title">
          <h2 id="confirm-title">Confirm that it is you</h2>
          <p>
            A route handler can start a login with its own parameters. This one asks for your credentials
            again. A login starts a new session, so the colour is reset.
          </p>
          <p className="actions">
            <a className="button" href="/reauthenticate">
              Sign in again
            </a>
          </p>
        </section>
        <section className="card" aria-labelledby="more-title">
          <h2 id="more-title">Devices and accounts</h2>
          <p>See where you are signed in, and which accounts you have connected.</p>
          <p className="actions">
            <Link className="button" href="/devices">
              Your devices
            </Link>
            <Link className="button" href="/accounts">
              Connected accounts
            </Link>
          </p>
        </section>
      </>
    )
  },
  { returnTo: '/settings' },
)
