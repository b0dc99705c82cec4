import type { Metadata } from 'next'
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
          Your choice is written into the encrypted session cookie by a server action, and lasts as long as
          the session.
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
      </>
    )
  },
  { returnTo: '/settings' },
)
