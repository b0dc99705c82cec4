/** Parameters by name; of a repeated one the last value counts. */
export function lastValues(params: URLSearchParams): Map<string, string> {
  return new Map(params)
}

/** Whether the parameter stands more than once in the query. */
export function hasRepeated(params: URLSearchParams, name: string): boolean {
  return params.getAll(name).length > 1
}
