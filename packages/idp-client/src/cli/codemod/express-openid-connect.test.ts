import { describe, expect, test } from 'vitest'
import { rewriteFile } from './application.ts'
import { expressOpenidConnect, rewriteSource } from './express-openid-connect.ts'

const esm = (names: string): string => `import { ${names} } from 'express-openid-connect'\n\n`
const rewritten = (text: string): string => rewriteSource(text).text
const remarks = (text: string): string[] => rewriteSource(text).remarks.map((remark) => remark.text)

/** Returns the options that are made of those of `auth()`, on one line. */
const options = (text: string): string => {
  const found = /new IdpClient\(([\s\S]*?)\)\n\napp/.exec(rewritten(`${esm('auth')}app.use(auth(${text}))\n`))
  return (found?.[1] ?? '').replaceAll(/\s+/g, ' ').replaceAll(', }', ' }')
}

const kept = 'authRequired: false, idpLogout: true'
const code = "authorizationParams: { response_type: 'code', scope: 'openid' }"
const session = 'session: { absoluteDuration: 60 }'
const routes = "routes: { login: '/login', logout: '/logout', callback: '/callback' }"

describe('the client', () => {
  test('keeps paths, lifetimes, scope and logout of an application without options', () => {
    expect(rewritten(`${esm('auth')}app.use(auth())\n`)).toBe(`import { IdpClient } from 'idp-client/express'

const idp = new IdpClient({
  routes: { login: '/login', logout: '/logout', callback: '/callback' },
  session: { absoluteDuration: 7 * 24 * 60 * 60, expiryClaim: 'session_expiry' },
  authorizationParameters: { scope: 'openid profile email' },
  logoutStrategy: 'local',
})

app.use(idp.middleware)
app.use(idp.withPageAuthRequired())
`)
  })

  test.each([
    [
      'const { auth } = require("express-openid-connect");',
      'const { IdpClient } = require("idp-client/express");',
    ],
    [
      "const oidc = require('express-openid-connect')\nconst { auth } = oidc",
      "const { IdpClient } = require('idp-client/express')",
    ],
    [
      "import { auth as oidcAuth } from 'express-openid-connect'",
      "import { IdpClient } from 'idp-client/express'",
    ],
    ["import oidc from 'express-openid-connect'", "import { IdpClient } from 'idp-client/express'"],
    ["import * as oidc from 'express-openid-connect'", "import { IdpClient } from 'idp-client/express'"],
    [
      "import { auth, type ConfigParams } from 'express-openid-connect'\nlet a: ConfigParams",
      "import { IdpClient, type IdpClientOptions as ConfigParams } from 'idp-client/express'",
    ],
  ])('of %s', (statement, expected) => {
    const name =
      /\{ auth as (\w+)/.exec(statement)?.[1] ?? (/\{ auth\b/.test(statement) ? 'auth' : 'oidc.auth')
    const text = rewritten(`${statement}\n\napp.use(${name}({ ${kept} }))\n`)
    expect(text.startsWith(`${expected}\n`)).toBe(true)
    expect(text).toContain('app.use(idp.middleware)')
    expect(text).not.toContain('withPageAuthRequired')
  })

  test('has another name where idp is taken', () => {
    expect(rewritten(`${esm('auth')}const idp = 1\napp.use(auth())\n`)).toContain(
      'app.use(idpClient.middleware)',
    )
  })

  test('gets the options of a variable, whose name stays', () => {
    const text = `${esm('auth')}const config = {\n  ${kept},\n  baseURL: 'http://a', // here\n};\napp.use(auth(config));\n`
    expect(rewritten(text)).toContain("const config = {\n  appBaseUrl: 'http://a', // here\n")
    expect(rewritten(text)).toContain('const idp = new IdpClient(config);\n\napp.use(idp.middleware);\n')
  })

  test('gets the options of a variable, also where one of them is read', () => {
    const text = `${esm('auth')}const config = { baseURL: 1 }\nif (!config.baseURL) config.secret = a\napp.use(auth(config))\n`
    expect(rewritten(text)).toContain('if (!config.appBaseUrl) config.secret = a\n')
    expect(rewritten(text)).toContain('new IdpClient(config)')
  })

  test.each([
    [
      'a variable that is used elsewhere',
      'const config = { baseURL: 1 }\nuse(config)\napp.use(auth(config))',
    ],
    ['a variable of another module', 'app.use(auth(config))'],
    ['a mount path', "app.use('/a', auth())"],
    ['a value', 'const middleware = auth()'],
    ['a second call', 'app.use(auth())\nother.use(auth())'],
  ])('is left to do by hand for %s', (_title, body) => {
    const text = esm('auth') + body
    expect(rewritten(text)).toBe(text.replace("'express-openid-connect'", "'idp-client/express'"))
    expect(remarks(text)).toContainEqual(expect.stringContaining('auth has to become new IdpClient(options)'))
  })
})

describe('options', () => {
  test.each([
    [
      `${kept}, ${code}, ${session}, ${routes}`,
      `{ authorizationParameters: { scope: 'openid' }, session: { absoluteDuration: 60, expiryClaim: 'session_expiry' }, ${routes} }`,
    ],
    [
      `issuerBaseURL: a, baseURL, clientID: 'b', 'clientSecret': c`,
      "domain: a, appBaseUrl: baseURL, clientId: 'b', 'clientSecret': c",
    ],
    ['auth0Logout: true', "logoutStrategy: 'v2'"],
    ['idpLogout: false', "logoutStrategy: 'local'"],
    [
      "routes: { callback: '/cb', backchannelLogout: '/b' }",
      "routes: { callback: '/cb', backChannelLogout: '/b', login: '/login', logout: '/logout' }",
    ],
    [
      'backchannelLogout: { store }',
      "logout: '/logout', callback: '/callback', backChannelLogout: '/backchannel-logout' }",
    ],
    [
      "routes: { login: '/in' }, backchannelLogout: true",
      "routes: { login: '/in', logout: '/logout', callback: '/callback', backChannelLogout: '/backchannel-logout' }",
    ],
    [
      "backchannelLogout: true, routes: { backchannelLogout: '/b' }",
      "routes: { backChannelLogout: '/b', login: '/login', logout: '/logout', callback: '/callback' }",
    ],
    [
      "session: { rollingDuration: 1, cookie: { sameSite: 'None', httpOnly: true } }",
      "session: { inactivityDuration: 1, cookie: { sameSite: 'none' }, absoluteDuration: 7 * 24 * 60 * 60, expiryClaim: 'session_expiry' }",
    ],
    ['attemptSilentLogin: false', '{ routes'],
    [
      "authorizationParams: { ...params, response_type: 'code' }",
      "authorizationParameters: { scope: 'openid profile email', ...params }",
    ],
    [
      'session: { ...times, rolling: true }',
      "session: { absoluteDuration: 7 * 24 * 60 * 60, expiryClaim: 'session_expiry', ...times, rolling: true }",
    ],
    ['...more', "{ routes: { login: '/login', logout: '/logout', callback: '/callback' }, session: {"],
  ])('%s', (before, after) => {
    expect(options(`{ ${before} }`)).toContain(after)
  })

  test.each([
    ['afterCallback: (a, b, c) => c', 'afterCallback is beforeSessionSaved'],
    ['async afterCallback(a, b, c) { return c }', 'afterCallback is beforeSessionSaved'],
    ["routes: { login: false, postLogoutRedirect: '/' }", 'routes.login: false has no counterpart'],
    ['session: { store: new Store() }', 'sessionStore'],
    ['session: sessionOptions', 'session is not written out here'],
    ['...more', 'set elsewhere'],
    ['session: { ...times }', 'set elsewhere'],
    ['session: { cookie: { ...attributes } }', 'set elsewhere'],
    ["authorizationParams: { ...params, response_type: 'code' }", 'set elsewhere'],
    ['authRequired: isClosed', 'every route behind this line needs a login'],
    ["authorizationParams: { response_type: 'id_token' }", 'authorization code flow'],
    ['attemptSilentLogin: true', 'silent-login'],
  ])('%s gets a remark', (text, remark) => {
    expect(remarks(`${esm('auth')}app.use(auth({ ${text} }))`)).toContainEqual(
      expect.stringContaining(remark),
    )
  })
})

describe('guards', () => {
  test.each([
    ['requiresAuth()', 'idp.withPageAuthRequired()'],
    [
      "claimEquals('admin', true)",
      'idp.withPageAuthRequired({ authorize: ({ claims }) => claims.admin === true })',
    ],
    [
      "claimIncludes('https://a/b', 'c', 'd')",
      "idp.withPageAuthRequired({ authorize: ({ claims }) => Array.isArray(claims['https://a/b']) && claims['https://a/b'].includes('c') && claims['https://a/b'].includes('d') })",
    ],
  ])('%s', (before, after) => {
    const names = 'requiresAuth, claimEquals, claimIncludes'
    expect(rewritten(`${esm(names)}app.get('/', ${before}, (req, res) => res.end())`)).toBe(
      `\napp.get('/', ${after}, (req, res) => res.end())`,
    )
  })

  test.each([
    'requiresAuth(isOdd)',
    'claimEquals(name, 1)',
    "claimIncludes('a', b)",
    'claimCheck((req, claims) => claims.a)',
  ])('%s stays, and its import, with a remark', (call) => {
    const name = call.slice(0, call.indexOf('('))
    const text = `${esm(name)}app.get('/', ${call}, page)`
    expect(rewritten(text)).toBe(text.replace("'express-openid-connect'", "'idp-client/express'"))
    expect(remarks(text)).toContainEqual(expect.stringMatching(new RegExp(`^${name} `)))
  })

  test.each(['', "import express from 'express'\n", "const a = 1\nimport { b } from './b.js'\n"])(
    'the client is to be imported where another module creates it, after %j',
    (head) => {
      expect(remarks(`${head}${esm('requiresAuth')}router.use(requiresAuth())`)).toContainEqual(
        expect.stringContaining('Import idp'),
      )
    },
  )

  test('the client is not to be imported twice', () => {
    const handler = "app.get('/', async (req, res) => res.json(req.oidc.user))"
    expect(remarks(`import express from 'express'\nimport { idp } from './idp.js'\n${handler}`)).toEqual([])
  })
})

test('names that other modules import stay exported, with a remark', () => {
  const text =
    "import oidc from 'express-openid-connect'\n\nexport const { claimEquals, requiresAuth } = oidc\n"
  expect(rewriteSource(text)).toEqual({
    text: text.replace("'express-openid-connect'", "'idp-client/express'"),
    remarks: [{ line: 3, text: expect.stringMatching(/^Export the client in place of these names/) }],
  })
})

test.each([
  "import { requiresAuth } from 'express-openid-connect'\nexport { requiresAuth }\n",
  "const { requiresAuth } = require('express-openid-connect')\nmodule.exports = { requiresAuth }\n",
  "const { requiresAuth } = require('express-openid-connect')\nconst guard = requiresAuth\n",
])('a name without counterpart is reported where it is not called, too: %j', (text) => {
  expect(rewriteSource(text).remarks).toEqual([
    { line: 2, text: expect.stringMatching(/^requiresAuth does not exist here/) },
  ])
})

test('a property of the same name is not reported', () => {
  const text = "const { auth } = require('express-openid-connect')\nfetchIt({ auth: 1 }).auth\n"
  expect(rewriteSource(text).remarks).toEqual([])
})

describe('req.oidc and res.oidc', () => {
  const get = (head: string, body: string): string => `app.get('/', ${head} ${body})`

  test.each([
    [
      '(req, res) =>',
      '{ if (!req.oidc.isAuthenticated()) return }',
      '{ if ((await idp.getSession()) === null) return }',
    ],
    ['(req, res) =>', 'res.json(req.oidc.isAuthenticated())', 'res.json((await idp.getSession()) !== null)'],
    [
      'async (req, res) =>',
      '{ res.send(req.oidc.user?.name) }',
      '{ res.send((await idp.getSession())?.user?.name) }',
    ],
    [
      'async (req, res) =>',
      'res.send(req.oidc.idTokenClaims?.name)',
      'res.send((await idp.getSession())?.user?.name)',
    ],
    [
      'function (request, response)',
      '{ const { user: me } = request.oidc }',
      '{ const me = (await idp.getSession())?.user }',
    ],
    [
      '(req, res) =>',
      `{ if (a) { b(\`\${req.oidc.idToken}\`) } }`,
      `{ if (a) { b(\`\${(await idp.getSession())?.tokenSet.idToken}\`) } }`,
    ],
    [
      '(req, res) =>',
      "res.oidc.login({ returnTo: '/', authorizationParams: {} })",
      "sendResponse(res, await idp.startInteractiveLogin({ returnTo: '/', authorizationParameters: {} }))",
    ],
  ])('%s %s', (head, before, after) => {
    const wanted = head.startsWith('async') ? head : `async ${head}`
    expect(rewritten(get(head, before))).toBe(get(wanted, after))
  })

  test('fetchUserInfo returns a promise in both libraries', () => {
    expect(rewritten('const load = (req) => req.oidc.fetchUserInfo()')).toBe(
      'const load = (req) => idp.getUserInfo()',
    )
  })

  test.each([
    ['function name(req) { return req.oidc.user }', 'has to be async'],
    ["cache.get('user', () => req.oidc.user)", 'has to be async'],
    ["app.get('/', (req, res) => users.filter((user) => user === req.oidc.user))", 'has to be async'],
    ['const names = users.map((user) => req.oidc.user.name)', 'has to be async'],
    ["app.get('/', async (req) => req.oidc.accessToken?.access_token)", 'idp.getAccessToken()'],
    ["app.get('/', (req, res) => res.oidc.logout({ returnTo: '/' }))", 'the logout route'],
    ["app.get('/', (req, res) => res.oidc.login({ silent: true }))", 'startInteractiveLogin'],
    ["app.get('/', (req, res) => res.oidc.login(options))", 'startInteractiveLogin'],
    ["app.get('/callback', (req, res) => res.oidc.callback())", 'no counterpart'],
  ])('%s stays, with a remark', (text, remark) => {
    expect(rewriteSource(text)).toEqual({
      text,
      remarks: [{ line: 1, text: expect.stringContaining(remark) }],
    })
  })

  // `undefined` would pass a comparison such as `now - auth_time > 300`.
  test.each([
    'now - req.oidc.idTokenClaims.auth_time > 300',
    'req.oidc.idTokenClaims?.exp < now',
    'isRecent(req.oidc.idTokenClaims)',
    "now - req.oidc.idTokenClaims['auth_time'] > 300",
    'ended.has(req.oidc.user?.sid)',
    'req.oidc.user!.exp < now',
    "ended.has(req.oidc.user['sid'])",
    'req.oidc.user?.[claim] < now',
    'req.oidc.idTokenClaims!.exp < now',
  ])('a claim of the protocol stays, with a remark: %s', (expression) => {
    const text = `app.get('/', async (req, res) => { if (${expression}) res.end() })`
    const { text: changed, remarks: found } = rewriteSource(text)
    expect(changed).toBe(text)
    expect(found).toContainEqual({ line: 1, text: expect.stringContaining('claims of the protocol') })
  })

  test('a handler whose promise Express 4 ignores gets a remark', () => {
    const manifest = (version: string): Map<string, string> =>
      new Map([['package.json', `{ "dependencies": { "express": "${version}" } }`]])
    const text = "app.get('/', (req, res) => res.json(req.oidc.user))"
    const found = ['^4.18.0', '^5.0.0'].map((version) =>
      expressOpenidConnect(manifest(version))
        .rewriteSource(text, 'a.js')
        .remarks.map((remark) => remark.text),
    )
    expect(found[0]).toContainEqual(expect.stringContaining('Express 4 ignores'))
    expect(found[1]).not.toContainEqual(expect.stringContaining('Express 4 ignores'))
  })

  test('comments and strings stay', () => {
    const text = "// req.oidc.user\nconst a = 'req.oidc.user'\n/* requiresAuth() */"
    expect(rewriteSource(text)).toEqual({ text, remarks: [] })
  })
})

test('a second run changes nothing', () => {
  const text = `${esm('auth, requiresAuth, claimCheck')}app.use(auth({ afterCallback }))\napp.get('/', requiresAuth(), (req, res) => res.send(req.oidc.user))\napp.get('/a', claimCheck(a), (req, res) => res.oidc.logout())\n`
  const once = rewritten(text)
  expect(once).not.toBe(text)
  expect(rewritten(once)).toBe(once)
})

describe('variables', () => {
  const codemod = expressOpenidConnect(new Map())

  test('are renamed where they are read, not where a name is spelled like them', () => {
    expect(rewritten("const CLIENT_ID = process.env.CLIENT_ID ?? process.env['BASE_URL']")).toBe(
      "const CLIENT_ID = process.env.IDP_CLIENT_ID ?? process.env['APP_BASE_URL']",
    )
    expect(rewritten('const { CLIENT_SECRET, CLIENT_ID: id, PORT = 1 } = process.env')).toBe(
      'const { IDP_CLIENT_SECRET: CLIENT_SECRET, IDP_CLIENT_ID: id, PORT = 1 } = process.env',
    )
    const twice = 'const { IDP_CLIENT_ID: CLIENT_ID, IDP_SECRET = SECRET } = process.env'
    expect(rewritten(twice)).toBe(twice)
    expect(rewritten('other.CLIENT_ID + CLIENT_ID')).toBe('other.CLIENT_ID + CLIENT_ID')
  })

  test('are renamed in environment files; a secret that is too short is reported', () => {
    const { text, remarks: found } = rewriteFile(
      codemod,
      '.env',
      `ISSUER_BASE_URL=https://a\nexport BASE_URL="http://b"\nSECRET=short\nCALLBACK=\${BASE_URL}/SECRET\nMY_SECRET=x\n`,
    )
    expect(text).toBe(
      `IDP_DOMAIN=https://a\nexport APP_BASE_URL="http://b"\nIDP_SECRET=short\nSECRET=short\nCALLBACK=\${APP_BASE_URL}/SECRET\nMY_SECRET=x\n`,
    )
    expect(found).toEqual([{ line: 3, text: expect.stringContaining('32 characters') }])
  })

  test('of the secret stays for the take-over, and is not read by the client', () => {
    expect(options('{ secret: process.env.SECRET }')).toContain('{ secret: process.env.IDP_SECRET, ')
    expect(rewritten('other({ secret: process.env.SECRET })')).toBe('other({ secret: process.env.SECRET })')
    const once = String(rewriteFile(codemod, '.env', 'SECRET=a\n').text)
    expect(once).toBe('IDP_SECRET=a\nSECRET=a\n')
    expect(rewriteFile(codemod, '.env', once).text).toBe(once)
    expect(rewriteFile(codemod, 'compose.yml', 'SECRET: a').remarks).toEqual([
      { line: 1, text: 'IDP_SECRET is needed beside SECRET, which takeOver reads.' },
    ])
  })

  test('of the secret in the options is the one that takeOver reads', () => {
    const list = (given: string) => remarks(`${esm('auth')}app.use(auth(${given}))\n`).join()
    expect(list('')).toContain('expressOpenidConnect({ secret: process.env.SECRET, ')
    expect(list('{ secret: process.env.MY_KEY }')).toContain('{ secret: process.env.MY_KEY, ')
  })

  test('are reported in files for deployment', () => {
    expect(rewriteFile(codemod, 'compose.yml', 'env:\n  ISSUER_BASE_URL: x\n').remarks).toEqual([
      { line: 2, text: 'ISSUER_BASE_URL is called IDP_DOMAIN now.' },
    ])
  })
})
