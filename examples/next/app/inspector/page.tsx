import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { formatTime } from '../../lib/format'
import { claimRows, sessionCookies, tokenRows } from '../../lib/inspect'
import { storeKind } from '../../lib/session-store'
import { Countdown } from './countdown'
import { ClaimsTable, CookiesTable, TokensTable } from './tables'

export const metadata: Metadata = { title: 'Session inspector' }

export default idp.withPageAuthRequired(
  async function Inspector() {
    const session = await idp.getSession()
    if (!session) return null
    const { user, tokenSet, internal } = session
    return (
      <>
        <PageHeader title="Session inspector" kind="Server component" source="app/inspector/page.tsx">
          What the server knows about you right now. Tokens are described, not shown: whoever holds one can
          use it.
        </PageHeader>
        <section className="card" aria-label="Summary">
          <dl className="facts">
            <div>
              <dt>Signed in</dt>
              <dd>{formatTime(internal.createdAt)}</dd>
            </div>
            <div>
              <dt>Access token expires</dt>
              <dd>{formatTime(tokenSet.expiresAt)}</dd>
            </div>
            <div>
              <dt>Time left</dt>
              <dd>
                <Countdown expiresAt={tokenSet.expiresAt} secondsLeft={secondsUntil(tokenSet.expiresAt)} />
              </dd>
            </div>
            <div>
              <dt>Session kept in</dt>
              <dd>{keptIn[storeKind]}</dd>
            </div>
          </dl>
        </section>
        <ClaimsTable rows={claimRows(user)} />
        <TokensTable rows={tokenRows(session)} />
        <CookiesTable rows={sessionCookies((await cookies()).getAll())} />
      </>
    )
  },
  { returnTo: '/inspector' },
)

const keptIn = {
  cookie: 'encrypted cookies',
  memory: 'memory of this server',
  redis: 'Redis',
  postgres: 'PostgreSQL',
} as const

function secondsUntil(epochSeconds: number): number {
  return Math.floor(epochSeconds - Date.now() / 1000)
}
