import type { Config } from '../config/config.ts'
import type { ServerMetadata } from './metadata.ts'
import type { RequestKind } from './request-object.ts'

/**
 * Returns the form of an authorization request: its parameters or, of a client that signs its requests, nothing but the request object
 * (RFC 9126 section 3, CIBA section 7.1.1).
 */
export async function toRequestForm(
  config: Config,
  metadata: ServerMetadata,
  kind: RequestKind,
  parameters: URLSearchParams,
): Promise<URLSearchParams> {
  const { requestObject } = config
  if (!requestObject) return parameters
  const { signRequestObject } = await import('./request-object.ts')
  const request = await signRequestObject(config, requestObject, metadata, { kind, parameters })
  return new URLSearchParams({ request })
}
