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
  /** Issues a certificate for a client. */
  issueToClient(options?: ClientCertificateOptions): Promise<ClientCertificate>
  /** Removes the file and its folder. */
  remove(): Promise<void>
}

const { subtle } = webcrypto
const DAY_MS = 86_400_000
const ECDSA_P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const CA_NAME = 'CN=Development identity provider (throw-away CA)'

const generateKeys = () => subtle.generateKey(ECDSA_P256, true, ['sign', 'verify'])

async function toPem(privateKey: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')
}

/** A certificate of a client, with its key. */
export interface ClientCertificate {
  /** PEM. */
  readonly cert: string
  /** PEM, PKCS#8. */
  readonly key: string
  /** SHA-256 in base64url, as in `x5t#S256`. */
  readonly thumbprint: string
}

/** Options of a client's certificate. */
export interface ClientCertificateOptions {
  /** Default `CN=client`. */
  readonly subject?: string
  /** No authority issues it. Default false: the CA of the provider does. */
  readonly selfSigned?: boolean
  /** Days until it ends, negative for one that has ended; default 30. */
  readonly days?: number
}

/** Issues a certificate for clients, by the CA or by itself. */
async function issueToClient(
  caKeys: webcrypto.CryptoKeyPair,
  { days = 30, selfSigned = false, subject = 'CN=client' }: ClientCertificateOptions = {},
): Promise<ClientCertificate> {
  const keys = await generateKeys()
  const end = Date.now() + days * DAY_MS
  const certificate = await X509CertificateGenerator.create({
    notBefore: new Date(end - 60 * DAY_MS),
    notAfter: new Date(end),
    signingAlgorithm: ECDSA_P256,
    subject,
    issuer: selfSigned ? subject : CA_NAME,
    publicKey: keys.publicKey,
    signingKey: selfSigned ? keys.privateKey : caKeys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
    ],
  })
  const thumbprint = Buffer.from(await subtle.digest('SHA-256', certificate.rawData)).toString('base64url')
  return { cert: certificate.toString('pem'), key: await toPem(keys.privateKey), thumbprint }
}

interface Certified {
  readonly ca: string
  readonly caKeys: webcrypto.CryptoKeyPair
  readonly identity: ServerIdentity
}

/** Certifies the host, `localhost` and both loopback addresses for 30 days, by a CA that nothing else knows. */
async function certify(host: string): Promise<Certified> {
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
  const key = await toPem(serverKeys.privateKey)
  return { ca: ca.toString('pem'), caKeys, identity: { cert: cert.toString('pem'), key } }
}

/** Creates a CA with a certificate for the host, `localhost` and both loopback addresses; valid for 30 days. */
export async function createAuthority(host: string): Promise<Authority> {
  const { ca, caKeys, identity } = await certify(host)
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
    issueToClient: (options) => issueToClient(caKeys, options),
    remove: async () => {
      process.off('exit', removeNow)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
