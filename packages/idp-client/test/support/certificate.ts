import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { Server } from 'node:https'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { bits, integer, oid, sequence, set, tagged, utcTime, utf8 } from '../../../dev-provider/src/der.ts'

export interface Certified {
  /** PEM; vouches for itself. */
  readonly cert: string
  /** PEM, PKCS#8. */
  readonly key: string
}

const DAY = 86_400_000
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'))

/** A certificate that no authority has issued, for one DNS name; `days` until it ends, negative for one that has ended. */
export function selfSigned(host: string, days = 30): Certified {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid('2.5.4.3'), utf8(host))))
  const end = Date.now() + days * DAY
  const names = sequence(tagged(0x82, Buffer.from(host, 'ascii')))
  const body = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(Buffer.of(0x40, ...randomBytes(8))),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime(new Date(end - 60 * DAY)), utcTime(new Date(end))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(sequence(oid('2.5.29.17'), tagged(0x04, names)))),
  )
  const der = sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, privateKey)))
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** An https server on a free port of `localhost`. */
export async function serveTls(
  identity: Certified,
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
