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
