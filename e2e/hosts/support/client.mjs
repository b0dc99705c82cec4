// Shared by the tests of adapters with the real frameworks, which need no provider.
import { generateCookieHeader } from 'idp-client/testing'

const secret = 'a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20'

export const base = 'https://app.example'

/** Options of a client. */
export const clientOptions = {
  domain: 'idp.example',
  clientId: 'app',
  clientSecret: 'client-secret',
  secret,
  appBaseUrl: base,
  logger: () => {},
}

/** The `Cookie` header of a session that was used some seconds ago. */
async function sessionUsed(ago) {
  const now = Math.floor(Date.now() / 1000)
  const session = { user: { sub: 'carol' }, internal: { createdAt: now - 4000 } }
  return generateCookieHeader(session, { secret, now: now - ago })
}

/** The `Cookie` header of a session whose use is to be recorded: the middleware has a cookie to write. */
export const dueSession = () => sessionUsed(400)

/** The `Cookie` header of a session for which the middleware has nothing to write. */
export const freshSession = () => sessionUsed(10)
