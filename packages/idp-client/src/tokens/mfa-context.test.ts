import { describe, expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import type { Purpose } from '../crypto/seal.ts'
import { setMfaChallenge } from '../errors/error-state.ts'
import type { MfaRequiredError } from '../errors/mfa.ts'
import { OAuthError } from '../errors/provider.ts'
import { AccessTokenError } from '../errors/tokens.ts'
import { text, utf8 } from '../lib/utf8.ts'
import { freshlyStored } from '../session/model/session.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { admitMfaContext, openMfaContext } from './mfa-context.ts'
import { orMfaRequired } from './mfa-demand.ts'

const RAW = 'raw-token-of-the-provider'
const wanted = { wireParameters: { audience: 'https://bank.example/' }, scope: 'openid transfer' }
const requirements = { challenge: [{ type: 'otp' }] }

function demand(token: string | undefined = RAW): OAuthError {
  const error = new OAuthError('OAUTH_ERROR', { error: 'mfa_required', providerStatus: 403 })
  setMfaChallenge(error, { ...(token === undefined ? {} : { token }), requirements })
  return error
}

function sessionOf(sub: string, now: number): StoredSession {
  const tokenSet = { accessToken: 'at', expiresAt: now + 60 }
  return freshlyStored({ user: { sub }, tokenSet, internal: { createdAt: now } }, now)
}

async function signedIn() {
  const { clock, engine } = engineFor()
  const cookies = new Cookies()
  const session = sessionOf('alice', clock.now)
  const exchange = cookies.exchange()
  await engine.sessions.save(exchange, session)
  cookies.take(exchange)
  const error = await orMfaRequired(engine, demand(), { wanted, session })
  const { mfa_token: sealed } = error as MfaRequiredError
  const admit = async (on: Cookies | null) =>
    admitMfaContext(engine, on?.exchange() ?? null, await openMfaContext(engine, sealed))
  return { admit, clock, cookies, engine, sealed, session }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: { name: string; code: string }) => `${error.name} ${error.code}`,
  )

describe('the context in an mfa_token', () => {
  test('[S244] a response with mfa_required becomes an error with an encrypted token', async () => {
    const { engine, sealed, session } = await signedIn()
    expect(sealed.split('.')).toHaveLength(5)
    expect(sealed).not.toContain(RAW)
    expect(await openMfaContext(engine, sealed)).toEqual({
      token: RAW,
      wanted,
      requirements,
      createdAt: engine.config.clock(),
      subject: 'alice',
      sessionKey: session.sessionKey,
      clientTag: await engine.clientTag(),
    })
  })

  test('mfa_required is found inside the error of an operation; other errors are unchanged', async () => {
    const { engine } = engineFor()
    const cause = demand()
    const wrapped = new AccessTokenError('FAILED_TO_REFRESH_TOKEN', { cause })
    expect(await orMfaRequired(engine, wrapped, { wanted })).toMatchObject({
      name: 'MfaRequiredError',
      mfa_requirements: requirements,
      cause,
    })
    const other = new OAuthError('OAUTH_ERROR', { error: 'invalid_grant' })
    expect(await orMfaRequired(engine, other, { wanted })).toBe(other)
    expect(await orMfaRequired(engine, null, { wanted })).toBeNull()
  })

  test('[S172] without a token of the provider it is an empty string', async () => {
    const { engine } = engineFor()
    const error = new OAuthError('OAUTH_ERROR', { error: 'mfa_required' })
    setMfaChallenge(error, {})
    expect(await orMfaRequired(engine, error, { wanted })).toMatchObject({ mfa_token: '' })
  })

  test.each([undefined, 'carol'])('without a session, about %s, it requires no session', async (subject) => {
    const { engine } = engineFor()
    const error = await orMfaRequired(engine, demand(), { wanted, ...(subject ? { subject } : {}) })
    const context = await openMfaContext(engine, (error as MfaRequiredError).mfa_token)
    expect(context.sessionKey).toBeUndefined()
    expect(context.subject).toBe(subject)
    expect(await admitMfaContext(engine, null, context)).toBeNull()
  })

  test('[S135,S071] is valid for exactly mfaTokenTtl seconds', async () => {
    const { admit, clock, cookies, engine, session } = await signedIn()
    expect(engine.config.mfaTokenTtl).toBe(300)
    clock.now += 299
    expect(await admit(cookies)).toMatchObject({ sessionKey: session.sessionKey })
    clock.now += 1
    expect(await codeOf(admit(cookies))).toBe('MfaError MFA_TOKEN_EXPIRED')
  })

  test('is valid only in the session in which it was created', async () => {
    const { admit, cookies, engine } = await signedIn()
    const { clock } = engine.config
    expect(await codeOf(admit(null))).toBe('MfaError MISSING_SESSION')
    expect(await codeOf(admit(new Cookies()))).toBe('MfaError MISSING_SESSION')
    const sessionKey = (await engine.sessions.load(cookies.exchange()))?.sessionKey ?? ''
    for (const [sub, name] of [
      ['mallory', 'of-its-own'],
      ['alice', 'of-another-login'],
      ['mallory', sessionKey],
    ] as const) {
      const other = new Cookies()
      const exchange = other.exchange()
      await engine.sessions.save(exchange, { ...sessionOf(sub, clock()), sessionKey: name })
      other.take(exchange)
      expect(await codeOf(admit(other))).toBe('MfaError MFA_TOKEN_INVALID')
    }
  })

  test('is invalid if it was changed, truncated, or belongs to another secret or client', async () => {
    const { engine, sealed } = await signedIn()
    const flipped = [...sealed]
      .map((_, at) => at)
      .filter((at) => at % 7 === 0 && sealed[at] !== '.')
      .map((at) => `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`)
    const { length } = sealed
    const cut = [0, 1, 40, length / 2, length - 1].map((end) => sealed.slice(0, end))
    for (const value of [...flipped, ...cut, `${sealed}A`, `${sealed}.`, RAW, '{}']) {
      expect(await codeOf(openMfaContext(engine, value))).toBe('MfaError MFA_TOKEN_INVALID')
    }
    for (const options of [
      { secret: 'fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210' },
      { clientId: 'another-client' },
      { domain: 'other.example.com' },
    ]) {
      const other = engineFor(options).engine
      expect(await codeOf(openMfaContext(other, sealed))).toBe('MfaError MFA_TOKEN_INVALID')
    }
  })

  test('is neither a ciphertext of another purpose nor of another version', async () => {
    const { engine, sealed } = await signedIn()
    const { sealer } = engine
    const bytes = await sealer.open('mfa', sealed)
    if (!bytes) throw new Error('not opened')
    const purposes: readonly Purpose[] = ['session', 'transaction', 'state', 'connection', 'logout']
    for (const purpose of purposes) {
      expect(await sealer.open(purpose, sealed)).toBeNull()
      const foreign = await sealer.seal(purpose, bytes)
      expect(await codeOf(openMfaContext(engine, foreign))).toBe('MfaError MFA_TOKEN_INVALID')
    }
    const content = JSON.parse(text(bytes)) as Record<string, unknown>
    for (const changed of [{ v: 2 }, { t: 7 }, { w: null }, { i: '0' }, { c: undefined }]) {
      const again = await sealer.seal('mfa', utf8(JSON.stringify({ ...content, ...changed })))
      expect(await codeOf(openMfaContext(engine, again))).toBe('MfaError MFA_TOKEN_INVALID')
    }
    const noJson = await sealer.seal('mfa', utf8('no JSON'))
    expect(await codeOf(openMfaContext(engine, noJson))).toBe('MfaError MFA_TOKEN_INVALID')
  })

  test('is decrypted with a rotated secret', async () => {
    const { sealed, session } = await signedIn()
    const secret = 'fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210'
    const old = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
    const { engine } = engineFor({ secret: [secret, old] })
    expect(await openMfaContext(engine, sealed)).toMatchObject({ sessionKey: session.sessionKey })
  })
})
