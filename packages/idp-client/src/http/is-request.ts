/** Whether a first argument is a request of any host rather than an options object: requests have headers. */
export function isRequestLike(value: unknown): value is { readonly headers: object } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'headers' in value &&
    typeof value.headers === 'object' &&
    value.headers !== null
  )
}

/** Whether a second argument is what cookies are written to (a response, its headers) rather than an options object. */
export function isResponseLike(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  return isRequestLike(value) || 'appendHeader' in value || 'setHeader' in value || 'getSetCookie' in value
}

/**
 * Tells apart the calling styles that every host has: `(options)`, `(request, options)` and
 * `(request, response, options)`, each with the last one left out or undefined as well.
 */
export function readHostArguments<HostRequest, HostResponse, Options>(
  given: readonly unknown[],
): [HostRequest | undefined, HostResponse | undefined, Options | undefined] {
  const [first, second, third] = given
  if (first !== undefined && !isRequestLike(first)) return [undefined, undefined, first as Options]
  const request = first as HostRequest | undefined
  return second === undefined || isResponseLike(second)
    ? [request, second as HostResponse | undefined, third as Options | undefined]
    : [request, undefined, second as Options]
}
