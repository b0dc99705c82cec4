import type { Remedy } from '../errors/remedy.ts'

export type TransportErrorKind =
  /** No complete response within `httpTimeout`. */
  | 'timeout'
  /** No connection, or it was lost. */
  | 'network'
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

const reasons: Record<TransportErrorKind, Reason> = {
  timeout: { text: 'No complete response arrived within httpTimeout', remedy: 'PROVIDER_TIMEOUT' },
  network: { text: 'The connection could not be made, or it broke' },
  aborted: { text: 'The request was aborted' },
  'too-large': { text: 'The response is larger than 1 MiB', remedy: 'RESPONSE_NOT_OAUTH' },
  redirect: {
    text: 'The response is a redirect; requests to the provider follow none',
    remedy: 'PROVIDER_REDIRECTS',
  },
  forbidden: { text: 'The address is not an https URL' },
}

/** Descriptions of the error codes of Node.js, undici and OpenSSL. Unknown codes get the one of `network`. */
const networkReasons: readonly (Reason & { readonly pattern: RegExp })[] = [
  {
    pattern: /^(?:ENOTFOUND|EAI_[A-Z]+)$/,
    text: 'The host name cannot be resolved',
    remedy: 'UNKNOWN_HOST',
  },
  {
    pattern: /^(?:ECONNREFUSED|ConnectionRefused)$/,
    text: 'Nothing accepts connections at that host and port',
    remedy: 'CONNECTION_REFUSED',
  },
  {
    pattern: /^(?:E(?:HOST|NET)(?:UNREACH|DOWN)|EACCES|EPERM|EADDRNOTAVAIL)$/,
    text: 'The host is unreachable',
    remedy: 'NETWORK_UNREACHABLE',
  },
  {
    pattern: /^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/,
    text: 'The connection timed out',
    remedy: 'PROVIDER_TIMEOUT',
  },
  {
    pattern: /^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/,
    text: 'The TLS certificate is not valid at the time that the clock of this server shows',
    remedy: 'CERTIFICATE_EXPIRED',
  },
  {
    pattern: /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    text: 'The TLS certificate was issued for another host name',
    remedy: 'CERTIFICATE_HOST',
  },
  {
    pattern:
      /SELF_SIGNED|^UNABLE_TO_(?:GET_ISSUER|VERIFY|DECODE_ISSUER)|^CERT_(?:UNTRUSTED|REJECTED|CHAIN_TOO_LONG)$/,
    text: 'The TLS certificate is not issued by a trusted authority',
    remedy: 'CERTIFICATE_NOT_TRUSTED',
  },
  {
    pattern: /^(?:EPROTO|ERR_SSL_[A-Z_]+|HPE_[A-Z_]+)$/,
    text: 'The server at that port uses another protocol than the URL',
    remedy: 'NOT_TLS',
  },
  {
    pattern: /^(?:ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/,
    text: 'The connection broke before the response was complete',
    remedy: 'CONNECTION_LOST',
  },
]

/**
 * A request to the provider without a usable response. Carries only the system's error code: the original transport
 * error may quote received bytes.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly kind: TransportErrorKind
  readonly systemCode: string | undefined
  readonly remedy: Remedy | undefined

  constructor(kind: TransportErrorKind, systemCode?: string) {
    const known =
      systemCode === undefined ? undefined : networkReasons.find(({ pattern }) => pattern.test(systemCode))
    const { remedy, text } = (kind === 'network' && known) || reasons[kind]
    super(systemCode === undefined ? `${text}.` : `${text} (${systemCode}).`)
    this.kind = kind
    this.systemCode = systemCode
    this.remedy = remedy
  }
}

/** Error codes of Node.js, undici and OpenSSL: upper case, with words and digits too short for a token. */
const SYSTEM_CODE = /^(?=.{2,48}$)[A-Z]{1,20}(?:_[A-Z0-9]{1,20})*$|^E2BIG$/

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

export function toTransportError(error: unknown): TransportError {
  return error instanceof TransportError ? error : new TransportError('network', getSystemCode(error))
}
