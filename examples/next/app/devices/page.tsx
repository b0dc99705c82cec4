import { isIdpError } from 'idp-client/next'
import type { Metadata } from 'next'
import { Suspense } from 'react'
import { Code } from '../../components/code'
import { Loading } from '../../components/loading'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { formatMinute } from '../../lib/format'
import { storeKind } from '../../lib/session-store'
import type { Device } from './device-list'
import { DeviceList } from './device-list'

export const metadata: Metadata = { title: 'Devices' }

const files = ['app/devices/page.tsx', 'app/devices/actions.ts', 'lib/session-store.ts', 'lib/auth.ts']

export default function DevicesPage() {
  return (
    <>
      <PageHeader title="Devices" kind="Session store" code={<Code files={files} />}>
        Every browser in which you are signed in. A session that you end here is over at once: the next page
        in that browser asks for a login.
      </PageHeader>
      <Suspense fallback={<Loading />}>
        <Devices />
      </Suspense>
    </>
  )
}

const Devices = idp.withPageAuthRequired(
  async function Devices() {
    const session = await idp.getSession()
    if (!session) return null
    return storeKind === 'cookie' ? <InCookies /> : <InStore sub={session.user.sub} />
  },
  { returnTo: '/devices' },
)

function InCookies() {
  return (
    <section className="card" aria-labelledby="cookies-title">
      <h2 id="cookies-title">Needs a session store</h2>
      <p>
        By default, each session is stored in an encrypted cookie of its browser. The server has no list of
        sessions and cannot end one in another browser. With a session store it can:
      </p>
      <pre>
        <code>npm run demo -- --store memory</code>
      </pre>
      <p>
        Or use <code>--store redis</code> with <code>REDIS_URL</code>, or <code>--store postgres</code> with{' '}
        <code>DATABASE_URL</code>.
      </p>
    </section>
  )
}

async function InStore({ sub }: { sub: string }) {
  const devices = await load(sub)
  if (typeof devices === 'string') {
    return (
      <section className="card" aria-label="No list">
        <p role="alert">{devices}</p>
      </section>
    )
  }
  return (
    <>
      <DeviceList devices={devices} />
      <section className="card" aria-labelledby="provider-title">
        <h2 id="provider-title">The session at the provider</h2>
        <p>
          Ending a session here does not sign that browser out at the provider, which could let it in again
          without asking. That is why every login of this demo asks for the user (<code>prompt=login</code>).
        </p>
      </section>
    </>
  )
}

/** Returns the user's sessions, or a message for the user. */
async function load(sub: string): Promise<readonly Device[] | string> {
  try {
    const [sessions, current] = await Promise.all([idp.sessions.listBySubject(sub), idp.sessions.currentId()])
    return sessions.map(({ id, createdAt, lastUsedAt, expiresAt, data: { device } }) => ({
      id,
      name: typeof device === 'string' ? device : 'Unknown browser',
      isCurrent: id === current,
      since: formatMinute(createdAt),
      lastUsed: formatMinute(lastUsedAt),
      expires: formatMinute(expiresAt),
    }))
  } catch (error) {
    if (isIdpError(error) && error.name === 'SessionStoreError')
      return 'The session store cannot be reached. Try again in a moment.'
    throw error
  }
}
