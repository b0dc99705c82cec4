import type { Metadata } from 'next'
import Link from 'next/link'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { colourOf } from '../../lib/colour'
import { ColourForm } from './colour-form'

export const metadata: Metadata = { title: 'Settings' }

export default idp.withPageAuthRequired(
  async function Settings() {
    const session = await idp.getSession()
    return (
      <>
        <PageHeader title="Settings" kind="Server action" source="app/settings/actions.ts">
          Your choice is written into the session by a server action, and lasts as long as the session.
        </PageHeader>
        <ColourForm current={colourOf(session)} />
        <section className="card" aria-labelledby="confirm-title">
          <h2 id="confirm-title">Confirm that it is you</h2>
          <p>
            A route handler can start a login of its own, here one that asks for your credentials again. It
            begins a new session, so the colour starts over.
          </p>
          <p className="actions">
            <a className="button" href="/reauthenticate">
              Sign in again
            </a>
          </p>
        </section>
        <section className="card" aria-labelledby="more-title">
          <h2 id="more-title">Devices and accounts</h2>
          <p>Where you are signed in, and which accounts elsewhere this application may use.</p>
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
