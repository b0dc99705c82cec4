export type WireFaultKind =
  /** No complete answer within httpTimeout. */
  | 'timeout'
  /** No connection, or it broke. */
  | 'network'
  /** The caller gave up. */
  | 'aborted'
  /** More than the size limit. */
  | 'too-large'
  /** An answer that sends the request elsewhere. */
  | 'redirect'
  /** An address that must not be asked: not https, or no URL. */
  | 'forbidden'

const texts: Record<WireFaultKind, string> = {
  timeout: 'No complete answer arrived in time.',
  network: 'The connection could not be made, or it broke.',
  aborted: 'The caller gave up waiting.',
  'too-large': 'The answer is larger than 1 MiB.',
  redirect: 'The answer is a redirect; requests to the provider follow none.',
  forbidden: 'The address is not an https URL.',
}

/**
 * A request to the provider that got no usable answer. Carries the system's error code at most: the original error of
 * the transport may quote the bytes that it stumbled over.
 */
export class WireFault extends Error {
  override readonly name = 'WireFault'
  readonly kind: WireFaultKind
  readonly systemCode: string | undefined

  constructor(kind: WireFaultKind, systemCode?: string) {
    super(systemCode === undefined ? texts[kind] : `${texts[kind]} (${systemCode})`)
    this.kind = kind
    this.systemCode = systemCode
  }
}

const SYSTEM_CODE = /^[A-Z][A-Z0-9_]{1,63}$/

/** `ECONNREFUSED`, `UND_ERR_SOCKET`, `CERT_HAS_EXPIRED`: from the error or what caused it; else the name of the error. */
function systemCodeOf(error: unknown): string | undefined {
  let current = error
  for (let depth = 0; depth < 4 && typeof current === 'object' && current !== null; depth++) {
    if ('code' in current && typeof current.code === 'string' && SYSTEM_CODE.test(current.code))
      return current.code
    current = 'cause' in current ? current.cause : undefined
  }
  return error instanceof Error && /^[A-Za-z]{1,40}$/.test(error.name) ? error.name : undefined
}

export function networkFault(error: unknown): WireFault {
  return error instanceof WireFault ? error : new WireFault('network', systemCodeOf(error))
}
