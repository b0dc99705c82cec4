import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { Suspense } from 'react'
import { Code } from '../../components/code'
import { Loading } from '../../components/loading'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { formatTime } from '../../lib/format'
import { claimRows, sessionCookies, tokenRows } from '../../lib/inspect'
import { storeKind } from '../../lib/session-store'
import { Countdown } from './countdown'
import { ClaimsTable, CookiesTable, TokensTable } from './tables'

export const metadata: Metadata = { title: 'Session inspector' }

const files = ['app/inspector/page.tsx', 'lib/inspect.ts']

export default function InspectorPage() {
  return (
    <>
      <PageHeader title="Session inspector" kind="Server component" code={<Code files={files} />}>
        What the server knows about you right now. Tokens are described but not shown: anyone who has a token
        can use it.
      </PageHeader>
      <Suspense fallback={<Loading />}>
        <Inspector />
      </Suspense>
    </>
  )
}

const Inspector = idp.withPageAuthRequired(
  async function Inspector() {
    const session = await idp.getSession()
    if (!session) return null
    const { user, tokenSet, internal } = session
    return (
      <>
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
              <dt>Session stored in</dt>
              <dd>{storeNames[storeKind]}</dd>
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

const storeNames = {
  cookie: 'encrypted cookies',
  memory: 'memory of this server',
  redis: 'Redis',
  postgres: 'PostgreSQL',
} as const

function secondsUntil(epochSeconds: number): number {
  return Math.floor(epochSeconds - Date.now() / 1000)
}
