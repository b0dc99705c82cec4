import { createHash, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateSync, stringToBytes } from 'otplib'
import { must } from '../../tools/lib/run.mjs'
import { cacheFolder } from './program.mjs'

/** Every character that a client secret may have: those that `application/x-www-form-urlencoded` spells differently, too. */
export const SECRET_OF_ALL_KINDS = 'aZ09-._~!$&()*+,;=:@/?% #[]^`{|}"<>'

const openssl = (...args) => must('openssl', args)

/** A self-signed certificate for the servers of this run, as PEM files. */
export async function serverCertificate() {
  mkdirSync(cacheFolder, { recursive: true })
  const key = join(cacheFolder, 'server-key.pem')
  const certificate = join(cacheFolder, 'server-certificate.pem')
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  await openssl(
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
    ...[
      '-addext',
      names,
      '-addext',
      'basicConstraints=critical,CA:TRUE',
      '-keyout',
      key,
      '-out',
      certificate,
    ],
  )
  return { key, certificate }
}

/**
 * Creates an authority of client certificates. `certificate` is that of the authority, as a file; `issue` signs one of a client
 * for the run, and returns its files and its subject.
 */
export async function clientAuthority() {
  mkdirSync(cacheFolder, { recursive: true })
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  const fileOf = (name) => join(cacheFolder, name)
  const authority = { key: fileOf('authority-key.pem'), certificate: fileOf('authority-certificate.pem') }
  await openssl(
    ...[...request, '-subj', '/CN=Authority', '-addext', 'basicConstraints=critical,CA:TRUE'],
    ...['-keyout', authority.key, '-out', authority.certificate],
  )
  return {
    certificate: authority.certificate,
    async issue() {
      const name = `client-${randomUUID()}`
      const issued = {
        key: fileOf(`${name}-key.pem`),
        certificate: fileOf(`${name}.pem`),
        subject: `CN=${name}`,
      }
      await openssl(
        ...[...request, '-CA', authority.certificate, '-CAkey', authority.key, '-subj', `/CN=${name}`],
        ...['-keyout', issued.key, '-out', issued.certificate],
      )
      return issued
    },
  }
}

const kinds = {
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EC: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
}

/**
 * A key pair for signed client assertions: the private key as PKCS#8 PEM, the public one as JWK.
 *
 * @param {keyof typeof kinds} kind
 */
export function assertionKey(kind) {
  const { privateKey } = kinds[kind]()
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    publicJwk: createPublicKey(privateKey).export({ format: 'jwk' }),
  }
}

/**
 * An RSA key and its certificate, made by the commands of the guide: the certificate as Base64 of its DER form, and the
 * hash of the public key.
 */
export async function certifiedKey(algorithm = 'RSA') {
  const key = join(cacheFolder, 'client-key.pem')
  const certificate = join(cacheFolder, 'client-certificate.pem')
  const size = algorithm === 'RSA' ? ['-pkeyopt', 'rsa_keygen_bits:2048'] : []
  await openssl('genpkey', '-algorithm', algorithm, ...size, '-out', key)
  await openssl('req', '-x509', '-key', key, '-subj', '/CN=client', '-days', '2', '-out', certificate)
  const base64 = readFileSync(certificate, 'utf8').replace(/-----[A-Z ]+-----|\s/g, '')
  const privatePem = readFileSync(key, 'utf8')
  const publicKey = createPublicKey(privatePem).export({ type: 'spki', format: 'der' })
  return { privatePem, certificate: base64, hash: createHash('sha256').update(publicKey).digest('base64url') }
}

/** An ES256 pair for DPoP as PEM. */
export function dpopKeys() {
  const { privateKey, publicKey } = kinds.EC()
  return {
    IDP_DPOP_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    IDP_DPOP_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'pem' }),
  }
}

/** The current one-time password of a secret, which is text, not base32 (RFC 6238: SHA-1, 30 s, six digits). */
export const oneTimePassword = (secret) => generateSync({ secret: stringToBytes(secret) })
