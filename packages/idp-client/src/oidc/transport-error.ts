import type { Remedy } from '../errors/remedy.ts'

export type TransportErrorKind =
  /** No complete response within `httpTimeout`. */
  | 'timeout'
  /** No connection, or it was lost. */
  | 'network'
  /** `fetch` connects to no server at that port. */
  | 'blocked-port'
  /** `fetch` cannot use the connections that the application gave it. */
  | 'dispatcher'
  /** The caller aborted the request. */
  | 'aborted'
  /** The response exceeds the size limit. */
  | 'too-large'
  /** The response is a redirect. */
  | 'redirect'
  /** The URL must not be requested: not https, or invalid. */
  | 'forbidden'

interface Reason {
  /** Description without the full stop. */
  readonly text: string
  readonly remedy?: Remedy
}

const REDIRECT = 'The response is a redirect; requests to the provider follow none'

const reasons: Record<TransportErrorKind, Reason> = {
  timeout: { text: 'No complete response arrived within httpTimeout', remedy: 'PROVIDER_TIMEOUT' },
  network: { text: 'The connection could not be made, or it broke' },
  'blocked-port': { text: 'fetch and browsers refuse that port: the provider needs another one' },
  dispatcher: {
    text: 'fetch cannot use the dispatcher of another version of undici: import both from the same copy',
  },
  aborted: { text: 'The request was aborted' },
  'too-large': { text: 'The response is larger than 1 MiB', remedy: 'RESPONSE_NOT_OAUTH' },
  redirect: { text: REDIRECT, remedy: 'PROVIDER_REDIRECTS' },
  forbidden: { text: 'The address is not an https URL' },
}

/**
 * Alerts by which a server ends a handshake without a certificate, or with one that it cannot use, in TLS 1.2; also if both have no cipher
 * in common.
 */
const HANDSHAKE_FAILED = /^ERR_SSL_[A-Z0-9_/]*ALERT_(?:HANDSHAKE_FAILURE|DECRYPT_ERROR)$/

/** Error codes of Node.js, undici and OpenSSL for failures of a connection. */
const networkRemedies: readonly (readonly [codes: RegExp, remedy: Remedy])[] = [
  [/^(?:ENOTFOUND|EAI_[A-Z]+)$/, 'UNKNOWN_HOST'],
  [/^(?:ECONNREFUSED|ConnectionRefused)$/, 'CONNECTION_REFUSED'],
  [/^(?:E(?:HOST|NET)(?:UNREACH|DOWN)|EACCES|EPERM|EADDRNOTAVAIL)$/, 'NETWORK_UNREACHABLE'],
  [/^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'PROVIDER_TIMEOUT'],
  [/^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/, 'CERTIFICATE_EXPIRED'],
  [/^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'CERTIFICATE_HOST'],
  [/SELF_SIGNED|^UNABLE_TO_(?:GET_ISSUER|VERIFY|DECODE_ISSUER)/, 'CERTIFICATE_NOT_TRUSTED'],
  [/^CERT_(?:UNTRUSTED|REJECTED|CHAIN_TOO_LONG)$/, 'CERTIFICATE_NOT_TRUSTED'],
  [
    /^ERR_SSL_[A-Z0-9_/]*ALERT_(?:ACCESS_DENIED|UNKNOWN_CA|(?:BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_(?:EXPIRED|REQUIRED|REVOKED|UNKNOWN))$/,
    'CLIENT_CERTIFICATE_REFUSED',
  ],
  [HANDSHAKE_FAILED, 'CONNECTION_LOST'],
  [/^(?:EPROTO|ERR_SSL_[A-Z_]+|HPE_[A-Z_]+)$/, 'NOT_TLS'],
  [/^(?:ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/, 'CONNECTION_LOST'],
]

/** Their descriptions. An unknown code gets that of `network`. */
const networkTexts: Partial<Record<Remedy, string>> = {
  UNKNOWN_HOST: 'The host name cannot be resolved',
  CONNECTION_REFUSED: 'Nothing accepts connections at that host and port',
  NETWORK_UNREACHABLE: 'The host is unreachable',
  PROVIDER_TIMEOUT: 'The connection timed out',
  CERTIFICATE_EXPIRED: 'The TLS certificate is not valid at the time that the clock of this server shows',
  CERTIFICATE_HOST: 'The TLS certificate was issued for another host name',
  CERTIFICATE_NOT_TRUSTED: 'The TLS certificate is not issued by a trusted authority',
  CLIENT_CERTIFICATE_REFUSED:
    'The server demands a TLS certificate of the client, or rejects the presented one',
  NOT_TLS: 'The server at that port uses another protocol than the URL',
  CONNECTION_LOST: 'The connection broke before the response was complete',
}

/** Returns the remedy of a system error code; `presents`: whether the client presents a certificate. */
function networkRemedy(systemCode: string, presents: boolean): Remedy | undefined {
  if (presents && HANDSHAKE_FAILED.test(systemCode)) return 'CLIENT_CERTIFICATE_REFUSED'
  return networkRemedies.find(([codes]) => codes.test(systemCode))?.[1]
}

function toReason(kind: TransportErrorKind, systemCode = '', presents = false): Reason {
  const remedy = networkRemedy(systemCode, presents)
  const text = remedy && networkTexts[remedy]
  return text ? { text, remedy } : reasons[kind]
}

/**
 * A request to the provider without a usable response. Carries only the system's error code: the original transport
 * error may quote received bytes.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly kind: TransportErrorKind
  readonly systemCode: string | undefined
  readonly remedy: Remedy | undefined

  constructor(kind: TransportErrorKind, systemCode?: string, presents?: boolean) {
    const { remedy, text } = toReason(kind, systemCode, presents)
    super(systemCode === undefined ? `${text}.` : `${text} (${systemCode}).`)
    this.kind = kind
    this.systemCode = systemCode
    this.remedy = remedy
  }
}

/**
 * Error codes of Node.js, undici and OpenSSL: upper case, with words and digits too short for a token. OpenSSL 3.2 and later writes
 * `SSL/TLS` in alerts.
 */
const SYSTEM_CODE = /^(?=.{2,48}$)[A-Z]{1,20}(?:_(?:[A-Z0-9]{1,20}|SSL\/TLS))*$|^E2BIG$/

/**
 * Returns the system error code of the error or its causes (`ECONNREFUSED`, `UND_ERR_SOCKET`, `CERT_HAS_EXPIRED`),
 * otherwise the name of the error.
 */
function getSystemCode(error: unknown): string | undefined {
  let current = error
  for (let depth = 0; depth < 4 && typeof current === 'object' && current !== null; depth++) {
    if ('code' in current && typeof current.code === 'string' && SYSTEM_CODE.test(current.code))
      return current.code
    current = 'cause' in current ? current.cause : undefined
  }
  return error instanceof Error && /^(?:[A-Z][A-Za-z]{1,30})?Error$/.test(error.name) ? error.name : undefined
}

/** Returns whether `fetch` refused the port (Fetch section 2.9). Node.js says so in words only. */
const isBlockedPort = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port'

/** Returns what a failed request was; `presents`: whether it was one with a certificate of the client. */
export function toTransportError(error: unknown, presents = false): TransportError {
  if (error instanceof TransportError) return error
  if (isBlockedPort(error)) return new TransportError('blocked-port')
  const systemCode = getSystemCode(error)
  return new TransportError(
    systemCode === 'UND_ERR_INVALID_ARG' ? 'dispatcher' : 'network',
    systemCode,
    presents,
  )
}
