import type { KeyObject } from 'node:crypto'
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'

/** Made with Node's cryptography alone, so that the API under test does not check itself. */
export interface ProofKey {
  /** RFC 7638 thumbprint, for the claim `cnf.jkt` of a token. */
  readonly thumbprint: string
  /** A proof with the given header, over claims that are right for the token but for the given ones. */
  prove(accessToken: string, claims: ProofClaims, header?: Readonly<Record<string, unknown>>): string
}

export interface ProofClaims {
  readonly htu: string
  readonly [claim: string]: unknown
}

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

function signed(privateKey: KeyObject, header: unknown, claims: unknown): string {
  const input = `${base64url(header)}.${base64url(claims)}`
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

/** A fresh ES256 key pair of an attacker or of an honest caller. */
export function newProofKey(): ProofKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' })
  const jwk = { crv, kty, x, y }
  return {
    thumbprint: sha256(JSON.stringify(jwk)),
    prove(accessToken, claims, header = {}) {
      const right = {
        jti: randomUUID(),
        htm: 'GET',
        iat: Math.floor(Date.now() / 1000),
        ath: sha256(accessToken),
      }
      return signed(privateKey, { alg: 'ES256', typ: 'dpop+jwt', jwk, ...header }, { ...right, ...claims })
    },
  }
}

/** The variables that give an application a fresh key pair. */
export function dpopVariables(): Record<string, string> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { IDP_DPOP_PUBLIC_KEY: publicKey, IDP_DPOP_PRIVATE_KEY: privateKey }
}
