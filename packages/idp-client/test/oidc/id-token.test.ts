import { createHash } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { vendorValues } from '../../src/config/vendor.ts'
import type { Provider } from '../../src/oidc/provider.ts'
import { exchange, providerOf, recordingLog, refused, SECRET } from './client.ts'
import type { Claims, SigningKey } from './local-provider.ts'
import { ACCESS_TOKEN, CLIENT_ID, LocalProvider, nowInSeconds, signingKey } from './local-provider.ts'

/** Far from the real time on purpose: only the clock of the configuration may count. */
const now = 1_900_000_000
let key: SigningKey
let op: LocalProvider

beforeAll(async () => {
  key = await signingKey('k1')
  op = await new LocalProvider(key).start()
  op.clock = () => now
})
afterAll(() => op.stop())
beforeEach(() => {
  op.metadata = {}
  op.tokens = {}
  op.key = key
  op.published = [key.publicJwk]
  op.idToken = () => op.sign()
})

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const client = (): Provider => providerOf(op.issuer, { clock: () => now })

async function refusedBecause(detail: RegExp): Promise<void> {
  const { error, cause } = await refused(exchange(client()))
  expect(error.code).toBe('AUTHORIZATION_CODE_GRANT_ERROR')
  expect(cause.code).toBe('ID_TOKEN_INVALID')
  expect(cause.message).toMatch(detail)
  expect(cause.transient).toBe(false)
}

describe('signature and header', () => {
  test('a valid token of each advertised asymmetric algorithm is accepted', async () => {
    for (const algorithm of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
      const other = await signingKey(`key-${algorithm}`, algorithm)
      op.published = [other.publicJwk]
      op.idToken = () => op.sign({ email: 'a@example.org' }, {}, other)
      const grant = await exchange(client())
      expect(grant.claims).toMatchObject({ sub: 'alice', email: 'a@example.org', iss: op.issuer })
    }
  })

  test('a token signed by another key with a known key id is rejected', async () => {
    const stranger = await signingKey('k1')
    op.idToken = () => op.sign({}, {}, stranger)
    await refusedBecause(/signature/)
  })

  test('a changed payload is rejected', async () => {
    op.idToken = async () => {
      const [header, , signature] = (await op.sign()).split('.')
      return `${header}.${encode(op.claims({ sub: 'mallory' }))}.${signature}`
    }
    await refusedBecause(/signature/)
  })

  test.each(['none', 'None', 'NONE', 'nOnE'])('alg %s is rejected', async (alg) => {
    op.metadata = { id_token_signing_alg_values_supported: ['RS256', 'none', alg] }
    op.idToken = async () => `${encode({ alg })}.${encode(op.claims())}.`
    await refusedBecause(/algorithm/)
  })

  test('HMAC with the client secret or the public key is rejected although advertised', async () => {
    const secrets = [SECRET, JSON.stringify(key.publicJwk)]
    for (const secret of secrets) {
      op.idToken = () =>
        new SignJWT(op.claims())
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .sign(Buffer.from(secret.padEnd(32)))
      await refusedBecause(/algorithm/)
    }
  })

  test('without advertised algorithms only RS256 is accepted', async () => {
    op.metadata = { id_token_signing_alg_values_supported: undefined }
    expect((await exchange(client())).idToken).toBeTypeOf('string')
    const elliptic = await signingKey('k2', 'ES256')
    op.published = [key.publicJwk, elliptic.publicJwk]
    op.idToken = () => op.sign({}, {}, elliptic)
    await refusedBecause(/algorithm/)
  })

  test('[B9] a configured algorithm is accepted although the metadata lacks it, and no other one is', async () => {
    op.metadata = { id_token_signing_alg_values_supported: ['RS256'] }
    const elliptic = await signingKey('k2', 'ES256')
    op.published = [key.publicJwk, elliptic.publicJwk]
    const pinned = () => providerOf(op.issuer, { clock: () => now, idTokenAlgorithms: ['ES256'] })
    op.idToken = () => op.sign({}, {}, elliptic)
    expect((await exchange(pinned())).claims?.sub).toBe('alice')
    op.idToken = () => op.sign()
    expect((await refused(exchange(pinned()))).cause.message).toMatch(/idTokenSignedResponseAlg/)
  })

  test('the key must fit too: RS256 keys do not verify PS256', async () => {
    op.idToken = async () => {
      const signed = await op.sign()
      return `${encode({ alg: 'PS256', kid: 'k1' })}.${signed.split('.').slice(1).join('.')}`
    }
    await refusedBecause(/no key that fits/)
  })

  test('without a kid one matching key works; other keys of the same kid are skipped', async () => {
    const elliptic = await signingKey('k1', 'ES256')
    const encryption = { ...(await signingKey('k1')).publicJwk, use: 'enc' }
    const signOnly = { ...(await signingKey('k1')).publicJwk, use: undefined, key_ops: ['sign'] }
    op.published = [elliptic.publicJwk, encryption, signOnly, key.publicJwk]
    op.idToken = () => op.sign({}, { kid: undefined })
    expect((await exchange(client())).claims?.sub).toBe('alice')
    op.idToken = () => op.sign()
    expect((await exchange(client())).claims?.sub).toBe('alice')
  })

  test('of two keys with the same kid and algorithm the right one is found', async () => {
    op.published = [(await signingKey('k1')).publicJwk, key.publicJwk]
    expect((await exchange(client())).claims?.sub).toBe('alice')
  })

  test('[I2] at most 8 keys that might fit are tried', async () => {
    const decoys = await Promise.all(Array.from({ length: 8 }, () => signingKey('k1')))
    const published = decoys.map(({ publicJwk }) => publicJwk)
    op.published = [...published.slice(0, 7), key.publicJwk]
    expect((await exchange(client())).claims?.sub).toBe('alice')
    op.published = [...published, key.publicJwk]
    await refusedBecause(/signature/)
  })

  test('a key for encryption does not verify', async () => {
    op.published = [{ ...key.publicJwk, use: 'enc' }]
    await refusedBecause(/no key that fits/)
  })

  test('keys and addresses inside the token are never used', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = await exportJWK(publicKey)
    const evil = `${op.issuer}/evil-jwks`
    const before = op.requests.filter((request) => request.endpoint === 'other').length
    op.idToken = () =>
      new SignJWT(op.claims())
        .setProtectedHeader({ alg: 'RS256', kid: 'k1', jwk, jku: evil, x5u: evil, x5c: ['MIIB'] })
        .sign(privateKey)
    await refusedBecause(/signature/)
    expect(op.requests.filter((request) => request.endpoint === 'other')).toHaveLength(before)
  })

  test.each([
    ['an unknown critical extension', { crit: ['exp'], exp: 1 }, /extension/],
    ['b64 false', { crit: ['b64'], b64: false }, /extension/],
    ['b64 without crit', { b64: true }, /extension/],
    ['the type of an access token', { typ: 'at+jwt' }, /another kind/],
    ['the type of an access token in upper case', { typ: 'AT+JWT' }, /another kind/],
    ['the type of a logout token', { typ: 'application/logout+jwt' }, /another kind/],
  ])('%s is rejected', async (_, header, detail) => {
    op.idToken = async () => {
      const signed = await op.sign()
      return `${encode({ alg: 'RS256', kid: 'k1', ...header })}.${signed.split('.').slice(1).join('.')}`
    }
    await refusedBecause(detail)
  })

  test.each([
    ['five parts', () => 'e30.e30.e30.e30.e30', /compact/],
    ['one part', () => 'abc', /compact/],
    ['an unreadable header', () => '!!!.e30.e30', /header/],
    ['a header that is no object', () => `${encode([])}.e30.e30`, /header|algorithm/],
    ['an empty signature', () => `${encode({ alg: 'RS256', kid: 'k1' })}.e30.`, /[Ss]ignature/],
  ])('%s is rejected', async (_, token, detail) => {
    op.idToken = async () => token()
    await refusedBecause(detail)
  })

  test.each(['[]', 'null', '"text"', '1', '{', '\u00ff'])(
    'the signed payload %s is rejected',
    async (payload) => {
      const { CompactSign } = await import('jose')
      const bytes = payload === '\u00ff' ? new Uint8Array([0xff, 0xfe]) : new TextEncoder().encode(payload)
      op.idToken = () =>
        new CompactSign(bytes).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(key.privateKey)
      await refusedBecause(/payload/)
    },
  )

  test.each(['exp', 'iat', 'nbf'])('%s beyond every number is rejected', async (name) => {
    const { CompactSign } = await import('jose')
    const payload = JSON.stringify(op.claims({ [name]: 'endless' })).replace('"endless"', '1e400')
    op.idToken = () =>
      new CompactSign(new TextEncoder().encode(payload))
        .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
        .sign(key.privateKey)
    await refusedBecause(new RegExp(`${name} is .*not a number`))
  })

  test('a token of 900 kB is rejected, one of 5 MB by the size of the response', async () => {
    const toLarge = (length: number): string =>
      `${encode({ alg: 'RS256', kid: 'k1' })}.${encode({ sub: 'A'.repeat(length) })}.AAAA`
    op.idToken = async () => toLarge(680_000)
    await refusedBecause(/signature/)
    op.idToken = async () => toLarge(5_000_000)
    const { error, cause } = await refused(exchange(client()))
    expect([error.code, cause.code]).toEqual(['AUTHORIZATION_CODE_GRANT_ERROR', 'RESPONSE_INVALID'])
  })
})

test('the times of a provider whose clock is behind are compared by clockSkew, also with the start of the login', async () => {
  const { config } = client()
  op.idToken = () => op.sign({ iat: now - 1000, exp: now - 900 })
  const provider = providerOf(op.issuer, { clock: () => now, dpop: { ...config.dpop, clockSkew: -1000 } })
  expect((await exchange(provider)).claims?.sub).toBe('alice')
})

describe('claims', () => {
  const halfHash = createHash('sha256').update(ACCESS_TOKEN).digest().subarray(0, 16).toString('base64url')

  const wrong: [string, Claims, RegExp][] = [
    ['another issuer', { iss: 'https://evil.example' }, /^The provider's ID token.* iss /],
    ['the issuer with a space', { iss: ' ' }, /iss /],
    ['the issuer in a list', { iss: ['x'] }, /iss /],
    ['another audience', { aud: 'client-2' }, /aud /],
    ['further audiences without azp', { aud: [CLIENT_ID, 'client-2'] }, /azp/],
    ['an empty audience list', { aud: [] }, /aud /],
    ['an audience in an object', { aud: { [CLIENT_ID]: true } }, /aud /],
    ['another authorized party', { azp: 'client-2' }, /azp/],
    ['another authorized party of several audiences', { aud: [CLIENT_ID, 'b'], azp: 'b' }, /azp/],
    ['expired beyond the tolerance', { exp: now - 61 }, /exp /],
    ['exp as text', { exp: String(now + 60) }, /exp /],
    ['issued in the future', { iat: now + 600 }, /iat is in the future by \d{3} s: compare the clocks/],
    [
      'issued long before the login',
      { iat: now - 361 },
      /iat is before the login by \d{3} s: compare the clocks/,
    ],
    ['iat as text', { iat: String(now) }, /iat /],
    ['not valid yet', { nbf: now + 600 }, /nbf/],
    ['nbf as text', { nbf: 'soon' }, /nbf/],
    ['another nonce', { nonce: 'other' }, /nonce/],
    ['no nonce', { nonce: undefined }, /nonce/],
    ['the nonce in a list', { nonce: ['nonce-of-this-login'] }, /nonce/],
    ['an empty subject', { sub: '' }, /sub /],
    ['a subject that is a number', { sub: 7 }, /sub /],
    ['the hash of another access token', { at_hash: halfHash.replace(/^./, '_') }, /at_hash/],
    ['a hash that is no text', { at_hash: 1 }, /at_hash/],
    ...['iss', 'sub', 'aud', 'exp', 'iat'].map((name): [string, Claims, RegExp] => [
      `${name} missing`,
      { [name]: undefined },
      new RegExp(`${name} `),
    ]),
  ]
  test.each(wrong)('%s is rejected', async (_, changes, detail) => {
    op.idToken = () => op.sign(changes)
    await refusedBecause(detail)
  })

  const right: [string, Claims][] = [
    ['a list with the client alone', { aud: [CLIENT_ID] }],
    ['further audiences with azp', { aud: ['api', CLIENT_ID], azp: CLIENT_ID }],
    ['expired within the tolerance', { exp: now - 30 }],
    ["a provider's clock that is 50 s behind", { iat: now - 50, exp: now + 10 }],
    ["a provider's clock that is 50 s ahead", { iat: now + 50, nbf: now + 50 }],
    ['a provider that sets its times five minutes back, 50 s behind', { iat: now - 350, nbf: now - 350 }],
    ['the right access token hash', { at_hash: halfHash }],
    ['null in place of claims that it lacks', { at_hash: null, azp: null }],
  ]
  test.each(right)('%s is accepted', async (_, changes) => {
    op.idToken = () => op.sign(changes)
    expect((await exchange(client())).claims?.sub).toBe('alice')
  })

  test('the issuer may differ by a trailing slash only', async () => {
    op.idToken = () => op.sign({ iss: `${op.issuer}/` })
    await refusedBecause(/iss /)
  })

  test.each([
    ['ES384', 'sha384', 24],
    ['ES512', 'sha512', 32],
  ])('at_hash follows the algorithm: %s hashes with %s', async (algorithm, name, bytes) => {
    op.metadata = { id_token_signing_alg_values_supported: [algorithm] }
    const large = await signingKey('k9', algorithm)
    op.published = [large.publicJwk]
    const hash = createHash(name).update(ACCESS_TOKEN).digest().subarray(0, bytes).toString('base64url')
    op.idToken = () => op.sign({ at_hash: hash }, {}, large)
    expect((await exchange(client())).claims?.sub).toBe('alice')
    op.idToken = () => op.sign({ at_hash: halfHash }, {}, large)
    await refusedBecause(/at_hash/)
  })

  test.each([
    ['EdDSA', 'sha512', 32],
    ['EdDSA', 'sha256', 16],
    ['Ed25519', 'sha512', 32],
  ])('[B10] at_hash of an %s token may be made with %s', async (algorithm, name, bytes) => {
    const hash = createHash(name).update(ACCESS_TOKEN).digest().subarray(0, bytes)
    const { notices } = await withEdwards(hash, algorithm)
    expect(notices).toEqual([])
  })

  test('[B10] another at_hash of an EdDSA token is reported, and the login succeeds', async () => {
    const { notices } = await withEdwards(createHash('sha384').update(ACCESS_TOKEN).digest().subarray(0, 24))
    expect(notices).toEqual([expect.stringMatching(/^at_hash of the provider's EdDSA ID tokens/)])
  })

  test.each([
    [0, 0, true],
    [0, 50, true],
    [0, 70, false],
    [100, 150, true],
    [100, 170, false],
    [100, -70, false],
  ])('[S101] max_age %i with an authentication %i s ago: accepted is %s', async (maxAge, ago, accepted) => {
    op.idToken = () => op.sign({ auth_time: now - ago })
    const outcome = exchange(client(), { maxAge })
    if (accepted) expect((await outcome).claims?.sub).toBe('alice')
    else expect((await refused(outcome)).cause.message).toMatch(/auth_time/)
  })

  test.each([undefined, 'yesterday', null])('max_age with auth_time %s is rejected', async (authTime) => {
    op.idToken = () => op.sign({ auth_time: authTime })
    expect((await refused(exchange(client(), { maxAge: 10 }))).cause.message).toMatch(/auth_time/)
  })

  const acme = { org_id: 'org_1', org_name: 'acme' }

  test.each<[string, Claims]>([
    ['org_1', acme],
    ['ACME', acme],
    ['acme', { org_name: 'Acme' }],
    ['caf\u00e9', { org_name: 'cafe\u0301' }],
    // A provider whose ids look otherwise.
    ['4711', { org_id: '4711' }],
    ['', {}],
  ])('organization %j: a token that names it is accepted', async (organization, claims) => {
    op.idToken = () => op.sign(claims)
    expect((await exchange(client(), { organization })).claims?.sub).toBe('alice')
  })

  test.each<[string, Claims]>([
    ['org_1', { org_id: 'org_2', org_name: 'Other' }],
    ['org_1', { org_id: 'org_2', org_name: 'org_1' }],
    ['org_1', { org_id: 'ORG_1' }],
    ['org_1', { org_name: 'acme' }],
    ['acme', { org_id: 'org_1' }],
    ['acme', {}],
    ['acme', { org_name: '\u0430cme' }],
    ['acme', { org_name: 'acme ' }],
    ['acme', { org_name: { toLowerCase: 'acme' } }],
  ])('organization %j: a token with %j is refused', async (organization, claims) => {
    op.idToken = () => op.sign(claims)
    expect((await refused(exchange(client(), { organization }))).cause.message).toMatch(/org_id/)
  })

  test('the prefix of organization ids can be set for another provider', async () => {
    const ids = providerOf(op.issuer, {
      clock: () => now,
      vendor: { ...vendorValues, organizationIdPrefix: 'tenant-' },
    })
    op.idToken = () => op.sign({ org_id: 'tenant-2', org_name: 'tenant-1' })
    expect((await refused(exchange(ids, { organization: 'tenant-1' }))).cause.message).toMatch(/org_id/)
    op.idToken = () => op.sign({ org_id: 'tenant-2', org_name: 'org_1' })
    expect((await exchange(ids, { organization: 'org_1' })).claims?.sub).toBe('alice')
  })

  test('all other claims are plain data and do not change a prototype', async () => {
    const { CompactSign } = await import('jose')
    const source = `${op.issuer}/claims`
    const text = JSON.stringify({
      ...op.claims(),
      name: '<b>\r\nx',
      _claim_sources: { a: { endpoint: source } },
    })
    const hostile = text.replace(
      /^\{/,
      '{"__proto__":{"polluted":1},"nested":{"__proto__":{"polluted":1}},"constructor":1,',
    )
    op.idToken = () =>
      new CompactSign(new TextEncoder().encode(hostile))
        .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
        .sign(key.privateKey)
    const { claims } = await exchange(client())
    expect(claims?.['name']).toBe('<b>\r\nx')
    const merged = Object.assign({}, claims, claims?.['nested'])
    expect(Reflect.get(merged, 'polluted')).toBeUndefined()
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(op.requests.some((request) => request.url === '/claims')).toBe(false)
  })

  async function withEdwards(hash: Buffer, algorithm = 'EdDSA'): Promise<{ notices: string[] }> {
    op.metadata = { id_token_signing_alg_values_supported: [algorithm] }
    const edwards = await signingKey('k9', algorithm)
    op.published = [edwards.publicJwk]
    op.idToken = () => op.sign({ at_hash: hash.toString('base64url') }, {}, edwards)
    const notices: string[] = []
    const log = { ...recordingLog(), once: (notice: string) => void notices.push(notice) }
    const grant = await exchange(providerOf(op.issuer, { clock: () => now, log }))
    expect(grant.claims?.sub).toBe('alice')
    return { notices }
  }

  test('the configured clock is used, not that of the machine', async () => {
    op.idToken = () => op.sign({ iat: nowInSeconds(), exp: nowInSeconds() + 3600 })
    await refusedBecause(/exp .*clock/)
    const grant = await exchange(providerOf(op.issuer), { startedAt: nowInSeconds() })
    expect(grant.claims?.sub).toBe('alice')
  })

  test('a login without an ID token is rejected', async () => {
    op.tokens = { id_token: undefined }
    const { error, cause } = await refused(exchange(client()))
    expect([error.code, cause.code]).toEqual(['AUTHORIZATION_CODE_GRANT_ERROR', 'RESPONSE_INVALID'])
    expect(cause.message).toMatch(/id_token/)
  })
})
