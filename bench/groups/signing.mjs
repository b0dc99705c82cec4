import { randomUUID } from 'node:crypto'
import { generateKeyPair, SignJWT } from 'jose'
import { loadSigning } from '../lib/internals.mjs'
import { compare } from '../lib/measure.mjs'
import { client, issuer, origin, scope } from '../lib/settings.mjs'

const ALGORITHM = 'ES256'

/** The parameters of an authorization request, as `authorizationUrl` makes them. */
const request = {
  client_id: client.id,
  response_type: 'code',
  redirect_uri: `${origin}/auth/callback`,
  scope,
  state: randomUUID(),
  nonce: randomUUID(),
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}

/** Signs the same token by jose: claims of the request, times, a fresh id. */
const sign = (key, claims, typ) => {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({
    ...claims,
    iss: client.id,
    aud: issuer,
    jti: randomUUID(),
    iat: now,
    nbf: now,
    exp: now + 60,
  })
    .setProtectedHeader({ alg: ALGORITHM, kid: 'key-1', ...(typ ? { typ } : {}) })
    .sign(key)
}

/** The signatures of a client, without the requests that carry them. The key is imported before. */
export async function measure(effort) {
  const { clientAuthentications, signRequestObject } = await loadSigning()
  const { privateKey: key } = await generateKeyPair(ALGORITHM)
  const signingKey = { key, keyId: 'key-1', algorithms: [ALGORITHM] }
  const clock = () => Math.floor(Date.now() / 1000)
  const config = {
    ...{ clientId: client.id, clock, dpop: { clockSkew: 0, clockTolerance: 60 } },
    clientAuth: { kind: 'assertion', ...signingKey },
  }
  const metadata = { issuer }
  const authenticate = clientAuthentications(config)(metadata)
  const kind = 'authorization'
  return [
    {
      title: 'Sign an authorization request',
      floor: 'jose.SignJWT with an imported key',
      rows: await compare(
        [
          { name: 'floor', run: () => sign(key, request, 'oauth-authz-req+jwt') },
          {
            name: 'idp-client',
            run: () =>
              signRequestObject(config, signingKey, metadata, {
                kind,
                parameters: new URLSearchParams(request),
              }),
          },
        ],
        effort,
      ),
    },
    {
      title: 'Sign a client assertion',
      floor: 'jose.SignJWT with an imported key',
      rows: await compare(
        [
          { name: 'floor', run: () => sign(key, { sub: client.id }) },
          {
            name: 'idp-client',
            run: () => authenticate(metadata, { client_id: client.id }, new URLSearchParams(), new Headers()),
          },
        ],
        effort,
      ),
    },
  ]
}
