import { isIdpError } from 'idp-client/next'
import type { Metadata } from 'next'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { formatMinute } from '../../lib/format'
import { storeKind } from '../../lib/session-store'
import type { Device } from './device-list'
import { DeviceList } from './device-list'

export const metadata: Metadata = { title: 'Devices' }

export default idp.withPageAuthRequired(
  async function Devices() {
    const session = await idp.getSession()
    if (!session) return null
    return (
      <>
        <PageHeader title="Devices" kind="Session store" source="app/devices/page.tsx">
          Every browser in which you are signed in. A session that is ended here is over at once: the next
          page of its browser needs a new login.
        </PageHeader>
        {storeKind === 'cookie' ? <InCookies /> : <InStore sub={session.user.sub} />}
      </>
    )
  },
  { returnTo: '/devices' },
)

function InCookies() {
  return (
    <section className="card" aria-labelledby="cookies-title">
      <h2 id="cookies-title">Not with sessions in cookies</h2>
      <p>
        Now each session lies in an encrypted cookie of its browser and nowhere else, so the server has no
        list of them and cannot end one from outside. With a store it has. Start the demo again:
      </p>
      <pre>
        <code>npm run demo -- --store memory</code>
      </pre>
      <p>
        Or <code>--store redis</code> with <code>REDIS_URL</code>, or <code>--store postgres</code> with{' '}
        <code>DATABASE_URL</code>.
      </p>
    </section>
  )
}

async function InStore({ sub }: { sub: string }) {
  const devices = await load(sub)
  return typeof devices === 'string' ? (
    <section className="card" aria-label="No list">
      <p role="alert">{devices}</p>
    </section>
  ) : (
    <DeviceList devices={devices} />
  )
}

/** The user's sessions, or what to tell the visitor. */
async function load(sub: string): Promise<readonly Device[] | string> {
  try {
    const [sessions, current] = await Promise.all([idp.sessions.listBySubject(sub), idp.sessions.currentId()])
    return sessions.map(({ id, createdAt, lastUsedAt, expiresAt, data: { device } }) => ({
      id,
      name: typeof device === 'string' ? device : 'Another browser',
      isCurrent: id === current,
      since: formatMinute(createdAt),
      lastUsed: formatMinute(lastUsedAt),
      ends: formatMinute(expiresAt),
    }))
  } catch (error) {
    if (isIdpError(error) && error.name === 'SessionStoreError')
      return 'The session store cannot be asked right now. Try again in a moment.'
    throw error
  }
}
