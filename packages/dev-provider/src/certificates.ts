// The library of certificates needs it, and needs it first.
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { ServerIdentity } from './listen.ts'

/** A certificate authority that exists for one run, and the identity it certifies. */
export interface Authority {
  readonly identity: ServerIdentity
  /** PEM of the CA's certificate. */
  readonly ca: string
  /** File that holds {@link Authority.ca}, in a folder of its own. */
  readonly caPath: string
  /** Removes the file and its folder. */
  remove(): Promise<void>
}

const { subtle } = webcrypto
const DAY_MS = 86_400_000
const ECDSA_P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const CA_NAME = 'CN=Development identity provider (throw-away CA)'

/** Certifies the host, `localhost` and both loopback addresses for 30 days, by a CA that nothing else knows. */
async function certify(host: string): Promise<{ ca: string; cert: string; key: string }> {
  const generateKeys = () => subtle.generateKey(ECDSA_P256, true, ['sign', 'verify'])
  const [caKeys, serverKeys] = await Promise.all([generateKeys(), generateKeys()])
  const validity = {
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 30 * DAY_MS),
    signingAlgorithm: ECDSA_P256,
  }
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: CA_NAME,
    keys: caKeys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  })
  const isName = !/^[\d.]+$|^\[/.test(host)
  const cert = await X509CertificateGenerator.create({
    ...validity,
    subject: 'CN=Development identity provider',
    issuer: CA_NAME,
    publicKey: serverKeys.publicKey,
    signingKey: caKeys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        ...[...new Set(['localhost', ...(isName ? [host] : [])])].map(
          (value) => ({ type: 'dns', value }) as const,
        ),
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  })
  const key = PemConverter.encode(await subtle.exportKey('pkcs8', serverKeys.privateKey), 'PRIVATE KEY')
  return { ca: ca.toString('pem'), cert: cert.toString('pem'), key }
}

/** Creates a CA with a certificate for the host, `localhost` and both loopback addresses; valid for 30 days. */
export async function createAuthority(host: string): Promise<Authority> {
  const { ca, ...identity } = await certify(host)
  const folder = await mkdtemp(join(tmpdir(), 'idp-dev-provider-'))
  const caPath = join(folder, 'ca.pem')
  await writeFile(caPath, ca)
  // A process that ends without `stop` must not leave its CA behind either.
  const removeNow = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeNow)
  return {
    identity,
    ca,
    caPath,
    remove: async () => {
      process.off('exit', removeNow)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
