import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { auth } from 'express-oauth2-jwt-bearer'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose'
import { createOurVerifier } from '../lib/internals.mjs'
import { compare } from '../lib/measure.mjs'
import { must } from '../lib/must.mjs'
import { createWebClient, request } from '../lib/products.mjs'
import { createProvider, jwks, jwt } from '../lib/provider.mjs'
import { issuer, origin, settings } from '../lib/settings.mjs'

const audience = 'https://api.example.com/'
const path = '/api/orders'

const noContent = new Response(null, { status: 204 })

/** Calls of the table of proofs: each needs a proof of its own, which is signed before. */
const PROOF_CALLS = 160

/** Calls before the first one that counts: Node.js 24 optimizes this code later than that of other groups. */
const WARM_UP = 20_000

function toToken(claims) {
  const iat = Math.floor(Date.now() / 1000)
  const content = {
    iss: issuer,
    aud: audience,
    sub: 'user-1',
    client_id: 'app',
    scope: 'orders:read',
    jti: randomUUID(),
  }
  return jwt({ ...content, iat, exp: iat + 3600, ...claims }, 'at+jwt')
}

const toRequest = (headers) => request(path, '', { headers })

/** Runs the middleware of another library as Express would. */
const runMiddleware = (middleware, headers) =>
  new Promise((resolve, reject) => {
    const get = (name) => headers[name.toLowerCase()]
    const req = { headers, get, method: 'GET', protocol: 'https', url: path, query: {}, is: () => false }
    middleware(req, {}, (error) => (error ? reject(error) : resolve()))
  })

/** A server for the key set: the other library does not use `fetch`. */
async function serveKeys() {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}/jwks`, stop: () => server.close() }
}

async function measureVerification(effort, { key }) {
  const token = toToken()
  const verify = await createOurVerifier(settings, audience)
  const rows = await compare(
    [
      { name: 'floor', run: () => jwtVerify(token, key, { issuer, audience }) },
      { name: 'idp-client', run: () => verify(token) },
    ],
    { ...effort, warmUp: WARM_UP },
  )
  return { title: 'Verify an access token', floor: 'jose.jwtVerify with an imported key', rows }
}

async function measureTokens(effort, { guarded, key }) {
  const token = toToken()
  const authorization = `Bearer ${token}`
  const verifying = async ({ headers }) => {
    await jwtVerify(headers.get('authorization').slice(7), key, { issuer, audience })
    return noContent
  }
  const keys = await serveKeys()
  const peer = auth({ issuer, jwksUri: keys.url, audience, tokenSigningAlg: 'RS256' })
  const rows = await compare(
    [
      { name: 'floor', run: () => must(verifying(toRequest({ authorization })), 204) },
      {
        name: 'idp-client',
        run: () => must(guarded(toRequest({ authorization })), 204),
      },
      {
        name: 'express-oauth2-jwt-bearer',
        run: () => runMiddleware(peer, { authorization, host: 'app.example.com' }),
      },
    ],
    { ...effort, warmUp: WARM_UP },
  )
  keys.stop()
  return {
    title: 'Access token of an API',
    floor: 'a handler that calls jose.jwtVerify with an imported key',
    rows,
  }
}

async function measureProofs(effort, { guarded, key }) {
  const pair = await generateKeyPair('ES256')
  const jwk = await exportJWK(pair.publicKey)
  const token = toToken({ cnf: { jkt: await calculateJwkThumbprint(jwk) } })
  const ath = createHash('sha256').update(token).digest('base64url')
  const prove = () =>
    new SignJWT({ jti: randomUUID(), htm: 'GET', htu: origin + path, ath })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt()
      .sign(pair.privateKey)
  const proofs = []
  const calls = PROOF_CALLS
  // More than the warm-up takes.
  for (let left = calls * effort.rounds + 6000; left > 0; left--) proofs.push(await prove())
  const floorProof = await prove()
  const verifying = async ({ headers }) => {
    await jwtVerify(headers.get('authorization').slice(5), key, { issuer, audience })
    await jwtVerify(headers.get('dpop'), await importJWK(jwk, 'ES256'), { typ: 'dpop+jwt' })
    return noContent
  }
  const send = () => {
    const dpop = proofs.pop()
    if (!dpop) throw new Error('bench: too few proofs')
    return must(guarded(toRequest({ authorization: `DPoP ${token}`, dpop })), 204)
  }
  const rows = await compare(
    [
      {
        name: 'floor',
        run: () => must(verifying(toRequest({ authorization: `DPoP ${token}`, dpop: floorProof })), 204),
      },
      { name: 'idp-client', run: send },
    ],
    { ...effort, calls },
  )
  return {
    title: 'Access token of an API, with a DPoP proof',
    floor:
      'a handler that calls jose.jwtVerify with an imported key, and with the key of the proof, which is not remembered',
    rows,
  }
}

/** Access tokens at an API: the keys are cached. */
export async function measure(effort) {
  globalThis.fetch = createProvider().fetch
  const { idp } = createWebClient()
  const guarded = idp.withApiAuthRequired(() => noContent, { accept: [idp.resource({ audience })] })
  const key = await importJWK(jwks.keys[0], 'RS256')
  const parts = { guarded, key }
  return [
    await measureVerification(effort, parts),
    await measureTokens(effort, parts),
    await measureProofs(effort, parts),
  ]
}
