// The library of certificates needs it, and needs it first.
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import type { Server, ServerOptions } from 'node:https'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { PemConverter, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'

export interface Certified {
  /** PEM; vouches for itself. */
  readonly cert: string
  /** PEM, PKCS#8. */
  readonly key: string
}

const { subtle } = webcrypto
const DAY = 86_400_000
const ECDSA_P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A certificate that no authority has issued, for one DNS name; `days` until it ends, negative for one that has ended. */
export async function selfSigned(host: string, days = 30): Promise<Certified> {
  const keys = await subtle.generateKey(ECDSA_P256, true, ['sign', 'verify'])
  const end = Date.now() + days * DAY
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${host}`,
    keys,
    signingAlgorithm: ECDSA_P256,
    notBefore: new Date(end - 60 * DAY),
    notAfter: new Date(end),
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
  })
  return {
    cert: certificate.toString('pem'),
    key: PemConverter.encode(await subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
  }
}

/** An https server on a free port of `localhost`. */
export async function serveTls(
  identity: ServerOptions,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server: Server = createServer(identity, (_request, response) => response.end('{}'))
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
