import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import { memoryStore } from '../../stores/memory.ts'
import type { Refreshed } from '../../tokens/apply.ts'
import { getFreshToken } from '../../tokens/refresh/access-token.ts'
import { toTokenRequest } from '../../tokens/token-request.ts'
import { decodeSession, encodeSession } from '../cookie/codec.ts'
import type { AuthenticationClaims } from './authentication.ts'
import { provenIn, readAuthentication, steppedUpBy, toAuthentication } from './authentication.ts'
import { freshlyStored } from './session.ts'
import type { StoredSession } from './stored-session.ts'

const NOW = 1_800_000_000
const login = {
  iss: 'https://idp.example.com/',
  sub: 'alice',
  aud: 'client',
  auth_time: NOW - 900,
  acr: 'silver',
}

function idTokenOf(claims: object): string {
  return ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'c2ln'].join('.')
}

function sessionWith(claims: object, authentication?: AuthenticationClaims): StoredSession {
  const tokenSet = {
    accessToken: 'a',
    expiresAt: NOW,
    refreshToken: `r-${crypto.randomUUID()}`,
    idToken: idTokenOf(claims),
  }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: NOW - 1000 } }
  return { ...freshlyStored(data, NOW), ...(authentication ? { authentication } : {}) }
}

const places: [string, () => IdpClientOptions][] = [
  ['cookies', () => ({})],
  ['a store', () => ({ sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => NOW }) })],
]

test.each(places)(
  '[B1] in %s a session of an earlier format uses the claims of its stored ID token, before a refresh',
  async (_place, options) => {
    const { engine } = engineFor(options())
    const { clientTag, config, sealer, sessions } = engine
    const cookies = new Cookies()
    const first = cookies.exchange()
    await sessions.save(first, sessionWith(login))
    cookies.take(first)
    const later = { ...login, auth_time: NOW, acr: 'gold' }
    const compared: unknown[] = []
    const sendRefresh = async ({ previous }: { previous?: object }): Promise<Refreshed> => {
      compared.push(previous)
      const tokens = { accessToken: 'b', refreshToken: `r-${compared.length}`, idToken: idTokenOf(later) }
      return { ...tokens, tokenType: 'Bearer', expiresAt: NOW + 60, claims: later }
    }
    for (let time = 1; time <= 2; time++) {
      const exchange = cookies.exchange()
      const session = await sessions.load(exchange)
      if (!session) throw new Error('no session')
      const want = { ...toTokenRequest(config.authorization, {}), force: true }
      await getFreshToken({ clientTag, config, sealer, sessions, sendRefresh }, exchange, session, want)
      cookies.take(exchange)
      const kept = await sessions.load(cookies.exchange())
      expect(kept?.authentication).toEqual(login)
      expect(kept?.data.internal).toEqual({ createdAt: NOW - 1000 })
      expect(kept?.data.tokenSet.idToken).toBe(idTokenOf(later))
    }
    expect(compared).toEqual([login, login].map((claims) => expect.objectContaining(claims)))
  },
)

test('[B1] a step-up that another process verified is not undone by a refresh that began before', async () => {
  const sessionStore = memoryStore({ name: crypto.randomUUID(), clock: () => NOW })
  const { engine } = engineFor({ sessionStore })
  const cookies = new Cookies()
  const first = cookies.exchange()
  const session = sessionWith(login, toAuthentication(login))
  await engine.sessions.save(first, session)
  cookies.take(first)
  const [slow, quick] = [cookies.exchange(), cookies.exchange()]
  const [refreshed, steppedUp] = [await engine.sessions.load(slow), await engine.sessions.load(quick)]
  if (!refreshed || !steppedUp) throw new Error('no session')
  const gold = { ...toAuthentication(login), auth_time: NOW, acr: 'gold' }
  await engine.sessions.save(quick, { ...steppedUp, authentication: gold, userInfoClaims: ['groups'] })
  const tokenSet = { ...refreshed.data.tokenSet, accessToken: 'b' }
  await engine.sessions.save(slow, { ...refreshed, data: { ...refreshed.data, tokenSet } })
  const kept = await engine.sessions.load(cookies.exchange())
  expect([kept?.authentication, kept?.userInfoClaims]).toEqual([gold, ['groups']])
  expect(kept?.data.tokenSet.accessToken).toBe('b')
})

test('claims of the stored ID token are not stored twice; others are stored', () => {
  const plain = sessionWith(login)
  const same = { ...plain, authentication: toAuthentication(login) }
  expect(encodeSession(same)).toEqual(encodeSession(plain))
  for (const authentication of [
    {},
    { ...login, acr: 'gold' },
    { ...toAuthentication(login), ahead: true as const },
  ]) {
    const decoded = decodeSession(encodeSession({ ...plain, authentication }))
    expect(decoded).toEqual({ ...plain, authentication })
  }
})

test('a step-up changes only how the user authenticated', () => {
  const claims = { ...login, iss: 'other', aud: 'other', auth_time: NOW, acr: 'gold', amr: ['otp'] }
  const expected = { ...login, auth_time: NOW, acr: 'gold', amr: ['otp'], ahead: true }
  expect(steppedUpBy(sessionWith(login), claims)).toEqual(expected)
  const { auth_time: _time, acr: _acr, ...others } = login
  expect(steppedUpBy(sessionWith(login), {})).toEqual({ ...others, ahead: true })
})

test('stored claims are read one by one', () => {
  const stored = { ...login, ahead: true, further: 1, org_id: null }
  expect(readAuthentication(stored)).toEqual({ ...login, ahead: true })
  expect(readAuthentication({ ...login, ahead: 'yes' })).toEqual(login)
  for (const nothing of [undefined, null, 'text', [login]])
    expect(readAuthentication(nothing)).toBeUndefined()
  expect(
    provenIn({ data: { ...sessionWith(login).data, tokenSet: { accessToken: 'a', expiresAt: 0 } } }),
  ).toEqual({})
})
