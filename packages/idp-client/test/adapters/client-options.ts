import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'

export const SECRET = 'a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20'
export const APP = 'https://app.example'

/** Options of a client whose provider no test requests. */
export const clientOptions: IdpClientOptions = {
  domain: 'idp.example',
  clientId: 'app',
  clientSecret: 'client-secret',
  secret: SECRET,
  appBaseUrl: APP,
  logger: () => {},
}

/** Begins as a new process does: notices are logged once in each. */
export function forgetNotices(): void {
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
}

/** Returns the base paths that notices in the log report as missing. */
export function missingBasePaths(events: readonly LogEvent[]): string[] {
  return events.flatMap((event) => {
    const [, base] = /FRAMEWORK_PUBLIC_BASE_PATH=([^,]+),/.exec('message' in event ? event.message : '') ?? []
    return base === undefined ? [] : [base]
  })
}

/** Seconds since the last use: too short for a further write, or long enough. */
const USED_AGO = { fresh: 10, due: 400 } as const

/** The `Cookie` header of a signed-in user, beside a cookie of the application. */
export async function signedIn(use: keyof typeof USED_AGO = 'fresh'): Promise<{ cookie: string }> {
  const now = Math.floor(Date.now() / 1000)
  const session = { user: { sub: 'carol', name: 'Carol' }, internal: { createdAt: now - 4000 } }
  const header = await generateCookieHeader(session, { secret: SECRET, now: now - USED_AGO[use] })
  return { cookie: `theme=dark; ${header}` }
}

export function cookieNames(response: Response): string[] {
  return response.headers.getSetCookie().map((line) => line.split('=', 1)[0] ?? '')
}
