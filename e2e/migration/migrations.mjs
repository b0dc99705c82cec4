const nextApp = {
  build: ['node_modules/next/dist/bin/next', 'build'],
  start: ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'],
  // Nothing builds an application again, and writing a cache for that takes a third of a build.
  config: 'export default { experimental: { turbopackFileSystemCacheForBuild: false } }\n',
}
const compiledApp = { build: ['node_modules/typescript/bin/tsc'], start: ['dist/server.js'] }

const ours = (provider) => provider.env

const auth0Variables = ({ env }, base) => ({
  AUTH0_CLIENT_ID: env.IDP_CLIENT_ID,
  AUTH0_CLIENT_SECRET: env.IDP_CLIENT_SECRET,
  AUTH0_SECRET: env.IDP_SECRET,
  AUTH0_DOMAIN: env.IDP_DOMAIN,
  LOCAL_PROVIDER: 'true',
  AUTH0_ISSUER_BASE_URL: env.IDP_DOMAIN,
  AUTH0_BASE_URL: base,
  AUTH0_SCOPE: 'openid profile email offline_access',
})

/** Follows the login route of an application to the provider. */
const loginAt = (path) => async (browser) => (await browser.request(path)).location

/** next-auth begins a login by a form that carries its own token. */
async function nextAuthLogin(browser) {
  const { csrfToken } = JSON.parse((await browser.request('/api/auth/csrf')).text)
  const response = await browser.request('/api/auth/signin/idp', {
    method: 'POST',
    body: new URLSearchParams({ csrfToken, callbackUrl: '/orders' }),
  })
  return response.location
}

/**
 * The migrations that docs/migration describes. Each has two applications in examples/migration; `login` begins
 * a login and gives the address at the provider, `env` the variables of the provider as the application reads them, `apis`
 * are paths that respond 200 to a signed-in user. `config` is the configuration of the one after. `formerSecret` is the variable of the
 * application after the migration that takes over the sessions of the one before; without it, these are in a store that processes do
 * not share.
 */
export const migrations = {
  'nextjs-auth0-v4': {
    before: { ...nextApp, login: loginAt('/auth/login'), env: auth0Variables },
    after: { ...nextApp, login: loginAt('/auth/login'), env: ours },
    apis: ['/api/calendar'],
  },
  'nextjs-auth0-v3': {
    formerSecret: 'AUTH0_SECRET',
    before: { ...nextApp, login: loginAt('/api/auth/login'), env: auth0Variables },
    after: {
      ...nextApp,
      login: loginAt('/api/auth/login'),
      env: ours,
      // Read when the application is built, for the browser, and again by the server.
      public: { NEXT_PUBLIC_LOGIN_ROUTE: '/api/auth/login', NEXT_PUBLIC_PROFILE_ROUTE: '/api/auth/me' },
    },
  },
  'next-auth-v4': {
    formerSecret: 'NEXTAUTH_SECRET',
    before: {
      ...nextApp,
      login: nextAuthLogin,
      env: ({ env }, base) => ({
        OIDC_ISSUER: env.IDP_DOMAIN,
        OIDC_CLIENT_ID: env.IDP_CLIENT_ID,
        OIDC_CLIENT_SECRET: env.IDP_CLIENT_SECRET,
        NEXTAUTH_SECRET: env.IDP_SECRET,
        NEXTAUTH_URL: base,
      }),
    },
    after: { ...nextApp, login: loginAt('/auth/login?returnTo=/orders'), env: ours },
  },
  'express-openid-connect': {
    formerSecret: 'SECRET',
    before: {
      ...compiledApp,
      login: loginAt('/login'),
      env: ({ env }, base) => ({
        ISSUER_BASE_URL: env.IDP_DOMAIN,
        CLIENT_ID: env.IDP_CLIENT_ID,
        CLIENT_SECRET: env.IDP_CLIENT_SECRET,
        SECRET: env.IDP_SECRET,
        BASE_URL: base,
      }),
    },
    after: { ...compiledApp, login: loginAt('/login'), env: ours },
  },
}
