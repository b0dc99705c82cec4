import { describe, expect, test } from 'vitest'
import { planChanges } from './application.ts'
import { nextAuth } from './next-auth.ts'

const options = {
  'lib/auth.ts':
    "import type { NextAuthOptions } from 'next-auth'\nexport const authOptions: NextAuthOptions = { providers: [{ id: 'idp', clientId: process.env.MY_ID, clientSecret: process.env['MY_SECRET'], issuer: process.env.MY_ISSUER }] }\n",
}

interface Result {
  readonly [path: string]: string | null
}

/** Returns the changes that the codemod makes to an application. */
function plan(files: Record<string, string>): {
  readonly changes: Result
  readonly remarks: readonly string[]
} {
  const { changes, remarks } = planChanges(nextAuth, new Map(Object.entries(files)))
  return { changes: Object.fromEntries(changes.map(({ path, text }) => [path, text])), remarks }
}

const one = (text: string, path = 'components/a.tsx'): string | null | undefined =>
  plan({ ...options, [path]: text }).changes[path]

const react = (names: string): string => `import { ${names} } from 'next-auth/react'\n\n`

describe('the module of the client', () => {
  test('keeps the callback URL and the lifetimes', () => {
    const { changes, remarks } = plan({ ...options, 'tsconfig.json': '{}' })
    expect(changes['lib/idp.ts']).toContain("routes: { callback: '/api/auth/callback/idp' },\n  session: {")
    expect(remarks).toContainEqual(expect.stringMatching(/^lib\/idp\.ts:1 Add takeOver: nextAuth/))
  })

  test.each([
    ["import Auth0Provider from 'next-auth/providers/auth0'\n", 'Auth0Provider({ id: "shop" })', '/shop'],
    ["import Auth0Provider from 'next-auth/providers/auth0'\n", 'Auth0Provider({})', '/auth0'],
    [
      "const KeycloakProvider = require('next-auth/providers/keycloak')\n",
      'KeycloakProvider({})',
      '/keycloak',
    ],
    ["import A from 'next-auth/providers/auth0'\n", 'A({}), A({ id: "b" })', undefined],
    [
      "import { makeProvider } from './own'\nimport 'next-auth'\nimport type { JWT } from 'next-auth/jwt'\n",
      'makeProvider()',
      undefined,
    ],
  ])('%s%s', (imports, entries, callback) => {
    const { changes, remarks } = plan({
      'pages/api/auth/[...nextauth].js': `${imports}export const o = { providers: [${entries}] }\n`,
    })
    const text = changes['lib/idp.js'] ?? ''
    expect(/callback: '\/api\/auth\/callback([^']*)'/.exec(text)?.[1]).toBe(callback)
    expect(remarks.some((remark) => remark.includes('Set routes.callback'))).toBe(callback === undefined)
  })

  const month = '30 * 24 * 60 * 60'

  test.each([
    ['', month, month, false],
    ["session: { strategy: 'jwt' },", month, month, false],
    ["session: { strategy: 'jwt', maxAge: 8 * 60 * 60, updateAge: 60 },", month, '8 * 60 * 60', false],
    ['session: {\n  maxAge: 7_776_000, // a quarter\n},', '7_776_000', '7_776_000', false],
    ['session: { maxAge: HOURS * 60 * 60 },', month, month, true],
    ['session: { ...shared },', month, month, true],
    ['session,', month, month, true],
    ['...shared,', month, month, true],
    ['session: isLong ? long : short,', month, month, true],
    ['callbacks: { session({ session }) { return session } },', month, month, false],
    ['callbacks: { session: ({ session }) => session },', month, month, false],
  ])('has the lifetime of %j', (text, absolute, inactive, isReported) => {
    const { changes, remarks } = plan({
      'lib/auth.js': `import NextAuth from 'next-auth'\nexport const o = { providers: [a()], ${text} }\n`,
    })
    expect(changes['lib/idp.js']).toContain(
      `session: { absoluteDuration: ${absolute}, inactivityDuration: ${inactive} },`,
    )
    expect(remarks.some((remark) => remark.includes('Set session.inactivityDuration'))).toBe(isReported)
  })

  test('has the default lifetime, with a remark, where the options are not found', () => {
    const { changes, remarks } = plan({
      'lib/auth.js':
        "import NextAuth from 'next-auth'\nexport const o = { providers, session: { maxAge: 3600 } }\n",
    })
    expect(changes['lib/idp.js']).toContain(`inactivityDuration: ${month} },`)
    expect(remarks.some((remark) => remark.includes('Set session.inactivityDuration'))).toBe(true)
  })

  test('is in src if the pages are, and the one that exists is used', () => {
    const page = "import { getServerSession } from 'next-auth'\nexport const a = () => getServerSession()\n"
    expect(Object.keys(plan({ 'src/app/page.js': page }).changes)).toContain('src/lib/idp.js')
    const existing = {
      'server/client.js': "import { IdpClient } from 'idp-client/next'\nexport const idp = new IdpClient()\n",
    }
    const { changes } = plan({ ...existing, 'app/page.js': page })
    expect(Object.keys(changes)).toEqual(['app/page.js'])
    expect(changes['app/page.js']).toContain("import { idp } from '../server/client'")
  })
})

describe('sessions on the server', () => {
  test.each([
    ['getServerSession', 'getServerSession(authOptions)', 'idp.getSession()'],
    ['getServerSession as get', 'get(authOptions)', 'idp.getSession()'],
    [
      'unstable_getServerSession',
      'unstable_getServerSession(context.req, context.res, authOptions)',
      'idp.getSession(context.req)',
    ],
  ])('%s: %s', (name, before, after) => {
    const imports = `import { ${name} } from 'next-auth/next'\nimport { authOptions } from '@/lib/auth'\n`
    expect(one(`${imports}\nexport default async () => ${before}\n`)).toBe(
      `import { idp } from '../lib/idp'\n\nexport default async () => ${after}\n`,
    )
  })

  test('the alias is used where the file uses it', () => {
    const text =
      "import { getServerSession } from 'next-auth'\nimport { authOptions } from '@/lib/auth'\n\ngetServerSession(authOptions)\n"
    const settings = { 'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./*"] } } }' }
    expect(plan({ ...options, ...settings, 'app/page.tsx': text }).changes['app/page.tsx']).toBe(
      "import { idp } from '@/lib/idp'\n\nidp.getSession()\n",
    )
  })

  test('getSession with a request is that of the client, without one it stays', () => {
    expect(one(`${react('getSession')}export const a = ({ req }) => getSession({ req })\n`)).toBe(
      "import { idp } from '../lib/idp'\n\nexport const a = ({ req }) => idp.getSession(req)\n",
    )
    const text = `${react('getSession')}getSession()\n`
    const { changes, remarks } = plan({ ...options, 'a.ts': text })
    expect(changes).not.toHaveProperty('a.ts')
    expect(remarks).toContainEqual(expect.stringMatching(/^a\.ts:1 getSession is/))
  })
})

describe('components', () => {
  test.each([
    ['const { data } = useSession()', 'const { user } = useUser()\nconst data = user && { user }'],
    [
      'const { data: session } = useSession()',
      'const { user } = useUser()\nconst session = user && { user }',
    ],
    [
      'const { status } = useSession()',
      "const { user, isLoading } = useUser()\nconst status = isLoading ? 'loading' : user ? 'authenticated' : 'unauthenticated'",
    ],
    [
      'const { data } = useSession()\nconst user = data?.user',
      'const { user: idpUser } = useUser()\nconst data = idpUser && { user: idpUser }\nconst user = data?.user',
    ],
  ])('%s', (before, after) => {
    expect(one(react('useSession') + before)).toBe(`import { useUser } from 'idp-client/react'\n\n${after}`)
  })

  test.each([
    ['useSession', 'const session = useSession()'],
    ['useSession', 'const { data, update } = useSession()'],
    ['useSession', 'const { data } = useSession({ required: true })'],
    ['signIn', "signIn('other')"],
    ['signIn', "signIn('credentials', { redirect: false })"],
    ['signIn', "signIn('idp', { callbackUrl: url })"],
    ['signIn', "signIn('idp', { callbackUrl: 'https://elsewhere' })"],
    ['signIn', "signIn('idp').then(next)"],
    ['signOut', 'signOut({ redirect: false })'],
    ['getToken', 'getToken({ req })'],
  ])('%s stays in: %s', (name, body) => {
    const text = react(name) + body
    const { changes, remarks } = plan({ ...options, 'a.tsx': text })
    expect(changes).not.toHaveProperty('a.tsx')
    expect(remarks).toContainEqual(expect.stringMatching(new RegExp(`^a\\.tsx:1 ${name} is`)))
  })

  test.each([
    ["signIn('idp', { callbackUrl: '/a?b=c' })", "window.location.assign('/auth/login?returnTo=/a%3Fb%3Dc')"],
    ['signOut()', "window.location.assign('/auth/logout')"],
    ["signOut({ callbackUrl: '/' })", "window.location.assign('/auth/logout')"],
    ["signOut({ callbackUrl: '/bye' })", "window.location.assign('/auth/logout?returnTo=/bye')"],
  ])('%s', (before, after) => {
    expect(one(`${react('signIn, signOut')}const a = () => ${before}`)).toBe(`\nconst a = () => ${after}`)
  })

  test('signIn without a path returns to the page', () => {
    expect(one(`${react('signIn')}const a = () => signIn()`)).toContain(
      'encodeURIComponent(window.location.pathname + window.location.search)',
    )
  })

  test('SessionProvider is IdpProvider; its properties are reported', () => {
    const text = `'use client'\n\n${react('SessionProvider')}export const P = ({ children, s }) => <SessionProvider session={s}>{children}</SessionProvider>\n`
    const { changes, remarks } = plan({ ...options, 'a.tsx': text })
    expect(changes['a.tsx']).toBe(
      "'use client'\n\nimport { IdpProvider } from 'idp-client/react'\n\nexport const P = ({ children, s }) => <IdpProvider session={s}>{children}</IdpProvider>\n",
    )
    expect(remarks).toContainEqual(expect.stringMatching(/^a\.tsx:5 IdpProvider takes/))
  })

  test('comments and strings stay', () => {
    const text = `${react('useSession')}// useSession() and signIn()\nconst a = "const { data } = useSession()"\n`
    expect(one(text)).toBeUndefined()
  })
})

describe('files that only serve next-auth', () => {
  const path = 'app/api/auth/[...nextauth]/route.ts'
  const imports = "import NextAuth from 'next-auth'\nimport { authOptions } from '@/lib/auth'\n\n"
  const exported = 'export { handler as GET, handler as POST }\n'

  test.each([
    [`${imports}const handler = NextAuth(authOptions)\n\n${exported}`],
    [`${imports}export default NextAuth(authOptions);\n`],
  ])('are deleted: %s', (text) => {
    expect(one(text, path)).toBeNull()
  })

  test('stay if they do more', () => {
    const text = `${imports}const handler = NextAuth({ ...authOptions, debug: true })\n${exported}`
    const { changes, remarks } = plan({ ...options, [path]: text })
    expect(changes).not.toHaveProperty(path)
    expect(remarks).toContainEqual(expect.stringContaining(`${path}:1 NextAuth() and its options`))
  })

  test('declarations of types are deleted, with others in the file they stay', () => {
    const types =
      "import 'next-auth'\n\ndeclare module 'next-auth' {\n  interface Session { a?: { b: string } }\n}\n"
    expect(one(types, 'types/a.d.ts')).toBeNull()
    expect(one(`${types}export type B = string\n`, 'types/a.d.ts')).toBeUndefined()
    expect(one(`${types}declare module 'other' {}\n`, 'types/a.d.ts')).toBeUndefined()
  })
})

test.each([
  "import { withAuth } from 'next-auth/middleware'\nexport default withAuth({})\n",
  "export { default } from 'next-auth/middleware'\nexport const config = { matcher: ['/a'] }\n",
])('the middleware stays, since its matcher protects pages: %s', (text) => {
  const { changes, remarks } = plan({ ...options, 'middleware.ts': text })
  expect(changes).not.toHaveProperty('middleware.ts')
  expect(remarks).toContainEqual(
    expect.stringMatching(/^middleware\.ts:1 The matcher of withAuth protects.* Server Action.* authorize/),
  )
})

describe('variables', () => {
  test('are those of next-auth and those that the only provider reads', () => {
    const { changes, remarks } = plan({
      ...options,
      '.env': `NEXTAUTH_URL=http://a\nNEXTAUTH_SECRET=${'x'.repeat(32)}\nMY_ID=b\nMY_SECRET=c\nMY_ISSUER=d\nOTHER=e\n`,
      'compose.yml': 'MY_ID: b\n',
      'a.ts': 'const url = process.env.NEXTAUTH_URL\n',
    })
    expect(changes['.env']).toBe(
      `APP_BASE_URL=http://a\nIDP_SECRET=${'x'.repeat(32)}\nNEXTAUTH_SECRET=${'x'.repeat(32)}\nIDP_CLIENT_ID=b\nIDP_CLIENT_SECRET=c\nIDP_DOMAIN=d\nOTHER=e\n`,
    )
    expect(changes['a.ts']).toBe('const url = process.env.APP_BASE_URL\n')
    expect(changes['lib/auth.ts']).toContain("process.env['IDP_CLIENT_SECRET']")
    expect(remarks).toContain('compose.yml:1 MY_ID is called IDP_CLIENT_ID now.')
  })

  test('of the secret in the options is the one that takeOver reads', () => {
    const list = (text: string) => plan({ 'lib/auth.ts': text }).remarks.join()
    const text = options['lib/auth.ts']
    expect(list(text)).toContain('nextAuth({ secret: process.env.NEXTAUTH_SECRET, ')
    const own = text.replace('{ providers', '{ secret: process.env.MY_KEY, providers')
    expect(list(own)).toContain('nextAuth({ secret: process.env.MY_KEY, ')
  })

  test('of several providers stay', () => {
    const text =
      "import type { NextAuthOptions } from 'next-auth'\nconst o = { providers: [A({ clientId: process.env.A }), B({ clientId: process.env.B })] }\n"
    expect(plan({ 'a.ts': text, '.env': 'A=1\nB=2\n' }).changes).not.toHaveProperty('.env')
  })
})

test('a second run changes nothing', () => {
  const files = {
    ...options,
    'app/page.tsx':
      "import { getServerSession } from 'next-auth'\nimport { authOptions } from '@/lib/auth'\ngetServerSession(authOptions)\n",
    'a.tsx': `${react('useSession, signIn')}const { data } = useSession()\nsignIn('idp'); signIn('b')\n`,
    'types/a.d.ts': "declare module 'next-auth' {}\n",
    '.env': 'NEXTAUTH_SECRET=x\n',
  }
  const first = new Map(Object.entries(files))
  for (const [path, text] of Object.entries(plan(files).changes))
    if (text === null) first.delete(path)
    else first.set(path, text)
  expect(plan(Object.fromEntries(first)).changes).toEqual({})
})
