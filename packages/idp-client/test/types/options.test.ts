import { expect, expectTypeOf, test, vi } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import type { OptionRow } from '../../src/config/option-rows.ts'
import { optionRows } from '../../src/config/option-rows.ts'
import type { IdpClientOptions, SessionData, User } from '../../src/index.ts'
import { customClock, customFetch, IdpClient, isIdpError } from '../../src/index.ts'

declare module '../../src/index.ts' {
  interface User {
    /** Stands for a claim that an application declares. */
    'https://types.example/level'?: number
  }
}

type Values = { readonly [Key in keyof IdpClientOptions]-?: NonNullable<IdpClientOptions[Key]> }

/** The options whose values do not follow from their rows. */
type OtherValues = {
  readonly [Key in keyof Values as Values[Key] extends boolean | number ? never : Key]: Values[Key]
}

const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])

/** One value per option; one that is added and has neither a boolean nor a number does not compile unless it is here. */
const others: OtherValues = {
  domain: 'idp.example.com',
  clientId: 'client',
  crossSiteLoginParameters: ['audience', 'scope'],
  clientSecret: 'secret',
  clientAssertionSigningKey: keys.privateKey,
  clientAssertionSigningKeyId: 'key-1',
  clientAssertionSigningAlg: 'ES256',
  clientAssertionAudience: 'token_endpoint',
  clientAssertionTyp: 'client-authentication+jwt',
  requestObject: { key: keys.privateKey, alg: 'ES256', keyId: 'key-1' },
  additionalPublicKeys: [{ kty: 'EC', crv: 'P-256', x: 'x'.repeat(43), y: 'y'.repeat(43), kid: 'key-2' }],
  tokenEndpointAuthMethod: 'client_secret_post',
  idTokenSignedResponseAlg: ['ES256'],
  authorizationParameters: { scope: 'openid', custom: 1 },
  appBaseUrl: ['https://app.example.com'],
  secret: '0123456789abcdef0123456789abcdef',
  signInReturnToPath: '/',
  session: { cookie: { name: 'app' } },
  transactionCookie: { maxAge: 60 },
  logoutStrategy: 'v2',
  frontChannelLogout: { issuer: 'optional', frameAncestors: ['https://login.example.com'] },
  beforeSessionSaved: (session) => session,
  onCallback: () => undefined,
  sessionStore: { get: async () => null, set: async () => undefined, delete: async () => undefined },
  takeOver: { until: '1970-01-02', cookies: 'former', read: () => null },
  routes: { login: '/in' },
  dpopKeyPair: keys,
  dpopOptions: { retry: { delay: 1 } },
  vendor: { logoutPath: '/out' },
  logger: () => {},
  [customFetch]: fetch,
  [customClock]: () => 0,
}

const values: Record<PropertyKey, unknown> = { ...others }
for (const [path, row] of Object.entries<OptionRow>(optionRows)) {
  if (path.includes('.')) continue
  if (row.kind === 'number') values[path] = row.default
  if (row.kind === 'boolean') values[path] = true
}

const clients = [IdpClient, NextClient, ExpressClient] as const

function construct(Client: (typeof clients)[number], options: IdpClientOptions): unknown {
  try {
    return new Client({ logger: () => {}, ...options })
  } catch (error) {
    return error
  }
}

test('[S001,S002] no option at all compiles, and gives an instance of each entry', () => {
  expectTypeOf(IdpClient).toBeConstructibleWith()
  expectTypeOf(IdpClient).toBeConstructibleWith({})
  expectTypeOf(NextClient).toBeConstructibleWith()
  expectTypeOf(ExpressClient).toBeConstructibleWith()
  expectTypeOf<ConstructorParameters<typeof IdpClient>>().toEqualTypeOf<
    [options?: IdpClientOptions | undefined]
  >()
  for (const Client of clients) expect(construct(Client, {})).toBeInstanceOf(Client)
})

test('[S001] `new IdpClient()` gives an instance without an argument', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  for (const Client of clients) expect(new Client()).toBeInstanceOf(Client)
  expect(warn).toHaveBeenCalledTimes(clients.length)
  warn.mockRestore()
})

test('[S002] each option alone compiles, and is accepted or refused by name', () => {
  type Alone = { [Key in keyof Values]: { readonly [One in Key]: Values[Key] } }[keyof Values]
  expectTypeOf<Alone>().toExtend<IdpClientOptions>()
  for (const key of Reflect.ownKeys(values)) {
    const made = construct(IdpClient, { [key]: values[key] })
    if (made instanceof IdpClient) continue
    expect(isIdpError(made, 'INVALID_CONFIGURATION'), String(key)).toBe(true)
    expect((made as Error).message, String(key)).toContain(String(key))
    expect((made as Error).message, String(key)).toMatch(
      /not available in this version|requires sessionStore|needs \[customFetch\]/,
    )
  }
})

test('[S002] an option may be undefined, and one that does not exist does not compile', () => {
  const absent: IdpClientOptions = { domain: undefined, session: { cookie: { secure: undefined } } }
  expect(construct(IdpClient, absent)).toBeInstanceOf(IdpClient)
  // @ts-expect-error: the name is clientId
  const misspelt: IdpClientOptions = { clientID: 'x' }
  // @ts-expect-error: the name is inactivityDuration
  const nested: IdpClientOptions = { session: { rollingDuration: 60 } }
  // @ts-expect-error: the row is logoutPath
  const row: IdpClientOptions = { vendor: { logoutPth: '/out' } }
  // @ts-expect-error: a text is no number
  const mistyped: IdpClientOptions = { httpTimeout: '5000' }
  expect(construct(IdpClient, { ...misspelt, ...nested, ...row })).toBeInstanceOf(IdpClient)
  expect(isIdpError(construct(IdpClient, mistyped), 'INVALID_CONFIGURATION')).toBe(true)
})

test('[S014] claims of an application are typed by declaration merging, others are unknown', () => {
  expectTypeOf<User['https://types.example/level']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<SessionData['user']['email']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<User['undeclared']>().toBeUnknown()
  const user: User = { sub: 'alice', 'https://types.example/level': 3, undeclared: [] }
  expect(user.sub).toBe('alice')
  // @ts-expect-error: sub is required
  const nobody: User = { name: 'Nobody' }
  expect(nobody.name).toBe('Nobody')
})
