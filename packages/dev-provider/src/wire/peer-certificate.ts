import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

/** The certificate that a client presented. */
export interface PresentedCertificate {
  readonly x509: X509Certificate
  /** It comes from the CA of the provider and is valid now. */
  readonly isTrusted: boolean
}

/** Returns the certificate of a connection, if its client presented one. */
export function presentedCertificate({ socket }: IncomingMessage): PresentedCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  const x509 = socket.getPeerX509Certificate()
  return x509 && { x509, isTrusted: socket.authorized }
}
