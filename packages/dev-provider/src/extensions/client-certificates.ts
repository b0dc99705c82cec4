import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { JWK, JWTPayload } from 'jose'
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import type { ProviderState } from '../oidc/state.ts'
import { verifyOwnToken } from '../oidc/tokens.ts'
import { PATHS } from '../wire/endpoints.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { getBearer, isRecord, jsonResponse } from '../wire/message.ts'
import type { PresentedCertificate } from '../wire/peer-certificate.ts'

/** Client authentication by TLS certificate, and access tokens that are bound to it (RFC 8705). */

/**
 * `right`: access tokens are bound to the presented certificate. `other`: JWTs are bound to an unknown certificate. `none`:
 * JWTs are not bound, although the client demands it.
 */
export type CertificateBinding = (typeof CERTIFICATE_BINDINGS)[number]
export const CERTIFICATE_BINDINGS = ['right', 'other', 'none'] as const

const certificates = new WeakMap<IncomingMessage, PresentedCertificate>()

/** Remembers the certificate of a request, which oidc-provider gets without its connection. */
export function noteCertificate(request: IncomingMessage, certificate: PresentedCertificate): void {
  certificates.set(request, certificate)
}

const isValidNow = ({ validFrom, validTo }: X509Certificate): boolean =>
  Date.parse(validFrom) <= Date.now() && Date.now() <= Date.parse(validTo)

function findCertificate({ req }: KoaContextWithOIDC): PresentedCertificate | undefined {
  const found = certificates.get(req)
  return found && isValidNow(found.x509) ? found : undefined
}

const toThumbprint = ({ raw }: X509Certificate): string =>
  createHash('sha256').update(raw).digest('base64url')

/** The public key of a certificate as `self_signed_tls_client_auth` registers it. */
export function toCertificateJwk(pem: string): JWK {
  const certificate = new X509Certificate(pem)
  return { ...certificate.publicKey.export({ format: 'jwk' }), x5c: [certificate.raw.toString('base64')] }
}

/** The attributes of a name, in either order of its parts (RFC 4514 begins with the last one). */
const toAttributes = (name: string): string =>
  name
    .split(/\n|,\s*/)
    .map((part) => part.trim())
    .sort()
    .join(',')

/** The callbacks of oidc-provider about certificates. */
export function certificateFeature(
  state: ProviderState,
): NonNullable<NonNullable<Configuration['features']>['mTLS']> {
  if (state.certificateOrigin === undefined) return { enabled: false }
  return {
    enabled: true,
    certificateBoundAccessTokens: true,
    selfSignedTlsClientAuth: true,
    tlsClientAuth: true,
    getCertificate: (ctx) => findCertificate(ctx)?.x509,
    certificateAuthorized: (ctx) => findCertificate(ctx)?.isTrusted ?? false,
    certificateSubjectMatches: (ctx, property, expected) =>
      property === 'tls_client_auth_subject_dn' &&
      toAttributes(findCertificate(ctx)?.x509.subject ?? '') === toAttributes(expected),
  }
}

const ALIASED = {
  token_endpoint: PATHS.token,
  revocation_endpoint: PATHS.revocation,
  introspection_endpoint: PATHS.introspection,
  pushed_authorization_request_endpoint: PATHS.par,
  backchannel_authentication_endpoint: PATHS.backchannelAuthentication,
  userinfo_endpoint: PATHS.userinfo,
}

/** Metadata about the listener that asks for certificates (RFC 8705, section 5). */
export function certificateMetadata({
  certificateOrigin,
  mountPath,
}: ProviderState): Record<string, unknown> {
  if (certificateOrigin === undefined) return {}
  const aliases = Object.entries(ALIASED).map(([name, path]) => [name, certificateOrigin + mountPath + path])
  return { mtls_endpoint_aliases: Object.fromEntries(aliases) }
}

/** Writes the binding of an access token as the setting wants it. */
export function applyBinding({ settings }: ProviderState, payload: JWTPayload): void {
  const { cnf } = payload
  if (settings.certificateBinding === 'right' || !isRecord(cnf) || cnf['x5t#S256'] === undefined) return
  if (settings.certificateBinding === 'none') delete payload['cnf']
  else payload['cnf'] = { 'x5t#S256': randomBytes(32).toString('base64url') }
}

/** Returns whether a call presents the certificate that the token is bound to. */
export function provesCertificate({ certificate }: Call, { cnf }: JWTPayload): boolean {
  return certificate !== undefined && isRecord(cnf) && cnf['x5t#S256'] === toThumbprint(certificate.x509)
}

/** An API that takes nothing but tokens which are bound to the certificate of its caller. */
export async function certificateApi(state: ProviderState, call: Call): Promise<BufferedResponse> {
  const token = getBearer(call)
  const claims = token === undefined ? undefined : await verifyOwnToken(state, token)
  if (claims && provesCertificate(call, claims))
    return jsonResponse(200, { sub: claims.sub, method: call.method, body: call.body.toString('utf8') })
  const refusal = jsonResponse(401, { error: 'invalid_token' })
  const challenge = token === undefined ? 'Bearer' : 'Bearer error="invalid_token"'
  return { ...refusal, headers: { ...refusal.headers, 'www-authenticate': challenge } }
}
