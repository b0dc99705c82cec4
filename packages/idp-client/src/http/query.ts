/** Returns parameters by name; of repeated ones the last value. */
export function lastValues(params: URLSearchParams): Map<string, string> {
  return new Map(params)
}
