import { errorJson } from '../../http/responses.ts'

/** Options of the check of form posts. */
export interface OriginCheckOptions {
  /**
   * Further origins whose forms may be posted to the application, such as `https://pay.example.com`. Default: none.
   */
  trustedOrigins?: readonly string[]
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Content types that a page of another origin can send without a preflight request (Fetch, CORS-safelisted). */
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']

/** Returns whether a page of any origin can send this request: a form, or a request without content type. */
function isForm({ headers, method }: Request): boolean {
  if (SAFE_METHODS.has(method)) return false
  const type = headers.get('content-type')?.toLowerCase()
  return !type || FORM_TYPES.some((formType) => type.includes(formType))
}

/**
 * Returns the response that rejects a form post of another origin (CSRF), or `null`. A post without `Origin` is rejected,
 * too: browsers always send it.
 */
export function rejectCrossOrigin(
  request: Request,
  ownOrigin: string,
  { trustedOrigins = [] }: OriginCheckOptions,
): Response | null {
  if (!isForm(request)) return null
  const origin = request.headers.get('origin')
  const isTrusted = origin !== null && (origin === ownOrigin || trustedOrigins.includes(origin))
  return isTrusted ? null : errorJson(403, 'CROSS_SITE_REQUEST')
}
