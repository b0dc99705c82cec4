import { expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import { requestContext } from '../lib/request-scope.ts'
import { signRequestObject } from './request-object.ts'

const CONTEXT = requestContext<string>('request-object/1')

const metadata = {
  issuer: 'https://idp.example.com',
  requirePar: false,
  issuerInCallback: false,
  idTokenAlgorithms: [],
  unusable: new Map<string, string>(),
}

test('a key is imported once, outside of the request that asked first', async () => {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'sign',
    'verify',
  ])
  const seen: unknown[] = []
  const signingKey = {
    algorithms: ['ES256'],
    get key() {
      seen.push(CONTEXT.getStore())
      return privateKey
    },
  }
  const { config } = engineFor().engine
  const sign = () =>
    signRequestObject(config, signingKey, metadata, {
      kind: 'authorization',
      parameters: new URLSearchParams({ state: 'x' }),
    })
  for (const user of ['alice', 'bob']) await CONTEXT.run(user, sign)
  expect(seen).toEqual([undefined])
})
