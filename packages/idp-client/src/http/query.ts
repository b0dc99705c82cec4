/** Parameters by name; of a repeated one the last value counts. */
export function lastValues(params: URLSearchParams): Map<string, string> {
  return new Map(params)
}
