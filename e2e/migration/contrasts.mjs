/**
 * Differences of an application after a migration that the compiler does not show: `ask` puts the same question to
 * both applications of an example. `row` is the first cell of the row in docs/migration that says so.
 *
 * @typedef {object} Asked
 * @property {() => import('../support/app-visit.mjs').Browser} browser a user who is signed out
 * @property {(user?: string) => Promise<import('../support/app-visit.mjs').Browser>} signIn a user who has logged in
 * @property {object} provider the development provider
 *
 * @type {Record<string, { row: string, ask: (asked: Asked) => Promise<unknown>, before: unknown, after: unknown }[]>}
 */
export const contrasts = {
  'nextjs-auth0-v4': [
    {
      row: 'Redirects of the routes',
      ask: async ({ browser }) => (await browser().request('/auth/login')).status,
      before: 307,
      after: 302,
    },
    {
      row: 'Another method on a route',
      ask: async ({ browser }) => (await browser().request('/auth/login', { method: 'HEAD' })).status,
      before: 404,
      after: 405,
    },
    {
      row: '`fetch` of the login route',
      ask: async ({ browser }) => (await browser().request('/auth/login', { headers: fetched })).status,
      before: 307,
      after: 403,
    },
    {
      row: 'Values of `error.code`',
      ask: async ({ browser }) => toPath(await browser().request('/auth/callback')),
      before: '/login-failed?code=missing_state',
      after: '/login-failed?code=MISSING_STATE',
    },
    {
      row: 'A callback whose transaction is missing',
      ask: async ({ browser }) => toPath(await browser().request('/auth/callback?code=c&state=unknown')),
      before: '/login-failed?code=invalid_state',
      after: '/login-failed?code=UNKNOWN_STATE',
    },
    {
      row: 'Body of the access-token route',
      ask: async ({ browser }) => {
        const { status, text } = await browser().request('/auth/access-token')
        return [status, JSON.parse(text).error.code]
      },
      before: [401, 'missing_session'],
      after: [401, 'MISSING_SESSION'],
    },
    {
      row: 'The provider cannot be reached during a refresh',
      ask: async ({ signIn, provider }) => {
        const browser = await signIn()
        const recover = provider.faults.set('token', { kind: 'respond', status: 503 })
        // A token for another API is not there yet, so it takes a refresh.
        const { status } = await browser.request('/auth/access-token?audience=https://stock.example.com/')
        recover()
        return status
      },
      before: 401,
      after: 503,
    },
    {
      row: 'Claims in `user`',
      ask: async ({ signIn }) => {
        const browser = await signIn('carol')
        return JSON.parse((await browser.request('/auth/profile')).text).groups
      },
      before: undefined,
      after: ['staff'],
    },
    {
      row: '`withPageAuthRequired` without `returnTo`',
      ask: async ({ browser }) => toPath(await browser().request('/settings')),
      before: '/auth/login',
      after: '/auth/login?returnTo=%2Fsettings',
    },
    {
      row: 'Session cookies on a page view',
      ask: async ({ signIn }) => {
        const { cookies } = await (await signIn()).request('/')
        return cookies.some((cookie) => cookie.startsWith('__session'))
      },
      before: true,
      after: false,
    },
    {
      row: 'Errors of the back-channel logout route',
      ask: async ({ browser }) => {
        const { status, type } = await browser().request('/auth/backchannel-logout', { method: 'POST' })
        return [status, type]
      },
      before: [400, 'text/plain'],
      after: [400, 'application/json'],
    },
  ],
  'nextjs-auth0-v3': [
    {
      row: 'The profile route without a session',
      ask: async ({ browser }) => (await browser().request('/api/auth/me')).status,
      before: 204,
      after: 401,
    },
    {
      row: 'The logout route without a session',
      ask: async ({ browser, provider }) => {
        const { location } = await browser().request('/api/auth/logout')
        return location.startsWith(provider.issuer)
      },
      before: false,
      after: true,
    },
    {
      row: '`withPageAuthRequired` without `returnTo`',
      ask: async ({ browser }) => toPath(await browser().request('/account')),
      before: '/api/auth/login?returnTo=%2Faccount',
      after: '/api/auth/login?returnTo=%2Faccount',
    },
    {
      row: 'Name of the session cookie',
      ask: async ({ signIn }) => (await signIn()).cookieNames(),
      before: ['appSession'],
      after: ['__session'],
    },
    {
      row: 'A callback that fails',
      ask: async ({ browser }) => (await browser().request('/api/auth/callback?code=c&state=s')).status,
      before: 400,
      after: 400,
    },
    {
      row: '`fetch` of the login route',
      ask: async ({ browser }) => (await browser().request('/api/auth/login', { headers: fetched })).status,
      before: 302,
      after: 403,
    },
    {
      row: 'Claims in `user`',
      ask: async ({ signIn }) => {
        const browser = await signIn()
        return 'sid' in JSON.parse((await browser.request('/api/auth/me')).text)
      },
      before: true,
      after: false,
    },
  ],
  'next-auth-v4': [
    {
      row: 'What the browser can read',
      ask: async ({ signIn, side }) => {
        const browser = await signIn()
        const path = side === 'before' ? '/api/auth/session' : '/auth/profile'
        return 'accessToken' in JSON.parse((await browser.request(path)).text)
      },
      before: true,
      after: false,
    },
    {
      row: 'Session request of the browser, signed out',
      ask: async ({ browser, side }) => {
        const path = side === 'before' ? '/api/auth/session' : '/auth/profile'
        const { status, text } = await browser().request(path)
        return [status, text]
      },
      before: [200, '{}'],
      after: [401, ''],
    },
    {
      row: 'A protected page without a session',
      ask: async ({ browser }) => toPath(await browser().request('/orders')),
      before: '/api/auth/signin?callbackUrl=%2Forders',
      after: '/auth/login?returnTo=%2Forders',
    },
    {
      row: 'Session cookies on a page view',
      ask: async ({ signIn }) => (await (await signIn()).request('/')).cookies.length,
      before: 0,
      after: 0,
    },
    {
      row: 'Name of the session cookie',
      ask: async ({ signIn }) => (await signIn()).cookieNames().filter((name) => name.includes('session')),
      before: ['next-auth.session-token'],
      after: ['__session'],
    },
    {
      row: 'Logging out at the provider',
      ask: async ({ signIn, side, provider }) => {
        const browser = await signIn()
        if (side === 'after')
          return (await browser.request('/auth/logout')).location.startsWith(provider.issuer)
        const { csrfToken } = JSON.parse((await browser.request('/api/auth/csrf')).text)
        const body = new URLSearchParams({ csrfToken, callbackUrl: '/' })
        const { location } = await browser.request('/api/auth/signout', { method: 'POST', body })
        return location.startsWith(provider.issuer)
      },
      before: false,
      after: true,
    },
  ],
  'express-openid-connect': [
    {
      row: 'A signed-in user without the claim',
      ask: async ({ signIn }) => (await (await signIn()).request('/staff')).status,
      before: 302,
      after: 403,
    },
    {
      row: 'A signed-in user with the claim',
      ask: async ({ signIn }) => (await (await signIn('carol')).request('/staff')).status,
      before: 200,
      after: 200,
    },
    {
      row: 'A protected page with `Accept: application/json`',
      ask: async ({ browser }) =>
        (await browser().request('/orders', { headers: { accept: 'application/json' } })).status,
      before: 500,
      after: 302,
    },
    {
      row: 'Name of the session cookie',
      ask: async ({ signIn }) => (await signIn()).cookieNames(),
      before: ['appSession'],
      after: ['__session'],
    },
    {
      row: 'Session cookies on a page view',
      ask: async ({ signIn }) => {
        const { cookies } = await (await signIn()).request('/')
        return cookies.some((cookie) => /^(?:appSession|__session)/.test(cookie))
      },
      before: true,
      after: false,
    },
    {
      row: 'A callback that fails',
      ask: async ({ browser }) => {
        const { status, text } = await browser().request('/callback?code=c&state=s')
        return [status, text.slice(0, 15)]
      },
      before: [500, 'BadRequestError'],
      after: [400, '<!doctype html>'],
    },
    {
      row: '`fetch` of the login route',
      ask: async ({ browser }) => (await browser().request('/login', { headers: fetched })).status,
      before: 302,
      after: 403,
    },
  ],
}

/** Headers of a browser's `fetch`, which a client-side router uses as well. */
const fetched = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }

/** Path and query of a redirect. */
function toPath({ status, location, text }) {
  if (location === null) return `${status} ${text.slice(0, 60)}`
  const { pathname, search } = new URL(location, 'http://app.example')
  return pathname + search
}
