import type { KeyObject } from 'node:crypto'
import { createHash, generateKeyPair, randomBytes, sign } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bits, bool, integer, octets, oid, sequence, set, tagged, utcTime, utf8 } from './der.ts'
import type { ServerIdentity } from './listen.ts'

/** A certificate authority that exists for one run, and the identity it vouches for. */
export interface Authority {
  readonly identity: ServerIdentity
  /** PEM of the CA's certificate. */
  readonly ca: string
  /** File that holds {@link Authority.ca}, in a folder of its own. */
  readonly caPath: string
  /** Removes the file and its folder. */
  remove(): Promise<void>
}

interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

interface CertificateRequest {
  readonly subject: string
  readonly subjectKeys: Keys
  readonly issuer: string
  readonly issuerKeys: Keys
  readonly extensions: readonly Buffer[]
}

const generate = promisify(generateKeyPair)
const DAY_MS = 86_400_000
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'))
const CA_NAME = 'Development identity provider (throw-away CA)'

function commonName(name: string): Buffer {
  return sequence(set(sequence(oid('2.5.4.3'), utf8(name))))
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [bool(true)] : []), octets(value))
}

function spki(keys: Keys): Buffer {
  return keys.publicKey.export({ type: 'spki', format: 'der' })
}

/** Identifies a key by the digest of its point (RFC 5280, section 4.2.1.2). */
function keyId(keys: Keys): Buffer {
  const point = spki(keys).subarray(-65)
  return createHash('sha1').update(point).digest()
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

/** An X.509 certificate of version 3 (RFC 5280, section 4.1), signed with ECDSA over P-256. */
function certificate(request: CertificateRequest): Buffer {
  const version3 = tagged(0xa0, integer(Buffer.of(2)))
  const serial = randomBytes(16)
  // The first bit decides the sign and a first byte of zero is not allowed.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const now = Date.now()
  const body = sequence(
    version3,
    integer(serial),
    ECDSA_WITH_SHA256,
    commonName(request.issuer),
    sequence(utcTime(new Date(now - DAY_MS)), utcTime(new Date(now + 30 * DAY_MS))),
    commonName(request.subject),
    spki(request.subjectKeys),
    tagged(0xa3, sequence(...request.extensions)),
  )
  return sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, request.issuerKeys.privateKey)))
}

const KEY_USAGE = '2.5.29.15'
const BASIC_CONSTRAINTS = '2.5.29.19'

function caExtensions(keys: Keys): Buffer[] {
  const certAndCrlSign = bits(Buffer.of(0b0000_0110), 1)
  return [
    extension(BASIC_CONSTRAINTS, sequence(bool(true), integer(Buffer.of(0))), true),
    extension(KEY_USAGE, certAndCrlSign, true),
    extension('2.5.29.14', octets(keyId(keys))),
  ]
}

function serverExtensions(host: string, issuerKeys: Keys): Buffer[] {
  const isName = !/^[\d.]+$|^\[/.test(host)
  const dnsNames = [...new Set(['localhost', ...(isName ? [host] : [])])]
  const names = [
    ...dnsNames.map((name) => tagged(0x82, Buffer.from(name, 'ascii'))),
    tagged(0x87, Buffer.of(127, 0, 0, 1)),
    tagged(0x87, Buffer.concat([Buffer.alloc(15), Buffer.of(1)])),
  ]
  const digitalSignature = bits(Buffer.of(0b1000_0000), 7)
  return [
    extension(BASIC_CONSTRAINTS, sequence(), true),
    extension(KEY_USAGE, digitalSignature, true),
    extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.17', sequence(...names)),
    extension('2.5.29.35', sequence(tagged(0x80, keyId(issuerKeys)))),
  ]
}

/** Makes a CA and a certificate for the host, `localhost` and both loopback addresses; valid for 30 days. */
export async function createAuthority(host: string): Promise<Authority> {
  const [caKeys, serverKeys] = await Promise.all([
    generate('ec', { namedCurve: 'P-256' }),
    generate('ec', { namedCurve: 'P-256' }),
  ])
  const ca = pem(
    certificate({
      subject: CA_NAME,
      subjectKeys: caKeys,
      issuer: CA_NAME,
      issuerKeys: caKeys,
      extensions: caExtensions(caKeys),
    }),
  )
  const cert = pem(
    certificate({
      subject: 'Development identity provider',
      subjectKeys: serverKeys,
      issuer: CA_NAME,
      issuerKeys: caKeys,
      extensions: serverExtensions(host, caKeys),
    }),
  )
  const folder = await mkdtemp(join(tmpdir(), 'idp-dev-provider-'))
  const caPath = join(folder, 'ca.pem')
  await writeFile(caPath, ca)
  // A process that ends without `stop` must not leave its CA lying about either.
  const removeNow = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeNow)
  return {
    identity: { cert, key: serverKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
    ca,
    caPath,
    remove: async () => {
      process.off('exit', removeNow)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
