import { createHmac } from 'node:crypto'
import type { DevProvider } from 'idp-dev-provider'
import type { IdpClientOptions } from '../../src/index.ts'
import type { Mistake } from './bench.ts'

type Change = Parameters<DevProvider['tamperIdToken']>[0]

/** A login with an ID token that the provider has made in another way. */
function tampered(change: Change, options: IdpClientOptions = {}, query = ''): Mistake['make'] {
  return async (bench) => {
    const world = await bench.start(options)
    world.provider.tamperIdToken(change)
    await bench.login(world, { query })
  }
}

/** An ID token that is signed with a shared secret. */
function symmetric(claims: object): string {
  const parts = [{ alg: 'HS256' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signed = parts.join('.')
  return `${signed}.${createHmac('sha256', 'a secret that both know').update(signed).digest('base64url')}`
}

/** A login while the provider's clock is so many seconds ahead of that of the application. */
function withClocksApart(seconds: number): Mistake['make'] {
  return async (bench) => {
    const world = await bench.start()
    world.provider.clock.advance(seconds)
    await bench.login(world)
  }
}

/** Mistakes that show in what the provider issues. */
export const tokens: readonly Mistake[] = [
  { mistake: "a provider's clock ten minutes ahead", remedy: 'CLOCKS_DIFFER', make: withClocksApart(600) },
  { mistake: "a provider's clock ten minutes behind", remedy: 'CLOCKS_DIFFER', make: withClocksApart(-600) },
  {
    mistake: 'an ID token for another client',
    remedy: 'ID_TOKEN_AUDIENCE',
    make: tampered((claims) => {
      claims['aud'] = 'alice-client'
    }),
  },
  {
    mistake: 'an end of the session that is not an integer',
    remedy: 'SESSION_EXPIRY_CLAIM',
    make: tampered(
      (claims) => {
        claims['session_expiry'] = '2030-01-01'
      },
      { session: { expiryClaim: 'session_expiry' } },
    ),
  },
  {
    mistake: 'an ID token of another issuer',
    remedy: 'ID_TOKEN_ISSUER',
    make: tampered((claims) => {
      claims['iss'] = 'https://alice.example.test'
    }),
  },
  {
    mistake: 'a nonce that is not the one of the request',
    remedy: 'ID_TOKEN_NONCE',
    make: tampered((claims) => {
      claims['nonce'] = 'of alice'
    }),
  },
  {
    mistake: 'a login for an organization that the ID token does not name',
    remedy: 'ID_TOKEN_ORGANIZATION',
    make: tampered(
      (claims) => {
        claims['org_id'] = 'org_of_alice'
      },
      {},
      '?organization=org_acme',
    ),
  },
  {
    mistake: 'a max_age that the provider does not apply',
    remedy: 'MAX_AGE_NOT_MET',
    make: tampered(
      (claims) => {
        delete claims['auth_time']
      },
      { authorizationParameters: { max_age: 60 } },
    ),
  },
  {
    mistake: 'an algorithm that the metadata does not list',
    remedy: 'ID_TOKEN_ALGORITHM',
    async make(bench) {
      const world = await bench.start({}, { idTokenSigningAlg: 'ES256' })
      world.provider.rewrite('discovery', (json) => ({
        ...json,
        id_token_signing_alg_values_supported: ['RS256'],
      }))
      await bench.login(world)
    },
  },
  {
    mistake: 'an algorithm that is listed, and is not supported here',
    remedy: 'ID_TOKEN_ALGORITHM_UNSUPPORTED',
    async make(bench) {
      const world = await bench.start()
      world.provider.rewrite('discovery', (json) => ({
        ...json,
        id_token_signing_alg_values_supported: ['HS256', 'RS256'],
      }))
      world.provider.tamperIdToken((claims) => ({ token: symmetric(claims) }))
      await bench.login(world)
    },
  },
  {
    mistake: 'a key that the provider has not published',
    remedy: 'ID_TOKEN_SIGNATURE',
    make: tampered((claims) => {
      claims['role'] = 'admin'
      return { keepSignature: true }
    }),
  },
  {
    mistake: 'a scope without openid, as the provider sees it',
    remedy: 'ID_TOKEN_MISSING',
    async make(bench) {
      const world = await bench.start()
      world.provider.rewrite('token', (json) => ({ ...json, id_token: undefined }))
      await bench.login(world)
    },
  },
  {
    mistake: 'an access token that UserInfo does not take',
    remedy: 'USERINFO_TOKEN_REFUSED',
    async make(bench) {
      const world = await bench.start({ fetchUserInfo: true })
      const challenge = 'Bearer realm="alice", error="invalid_token", error_description="alice"'
      world.provider.faults.set('userinfo', {
        kind: 'respond',
        status: 401,
        headers: { 'www-authenticate': challenge },
      })
      await bench.login(world)
    },
  },
  {
    mistake: 'an access token that UserInfo does not take, with a challenge that names no scheme',
    remedy: 'USERINFO_TOKEN_REFUSED',
    async make(bench) {
      const world = await bench.start({ fetchUserInfo: true })
      world.provider.faults.set('userinfo', {
        kind: 'respond',
        status: 401,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'www-authenticate': 'error="invalid_token", error_description="alice"',
        },
      })
      await bench.login(world)
    },
  },
  {
    mistake: 'UserInfo that is signed',
    remedy: 'USERINFO_SIGNED',
    async make(bench) {
      await bench.login(await bench.start({ fetchUserInfo: true }, { userinfoSigningAlg: 'ES256' }))
    },
  },
]
