export const isNonBlankString = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== ''

/** Lists of plain values have no common string form (`resource` repeats, `ui_locales` has blanks): the caller must choose. */
function isPlainList(value: object): boolean {
  return Array.isArray(value) && value.some((entry) => typeof entry !== 'object' || entry === null)
}

/** Converts a request parameter to a string, an object to JSON. Returns `undefined` for a value that has no string form. */
export function toParameterString(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null)
    return ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : undefined
  try {
    if (isPlainList(value)) return undefined
    const json = JSON.stringify(value)
    // That of a URL or a date is a string.
    return json.startsWith('"') ? JSON.parse(json) : json
  } catch {
    // It has a cycle, or a value that JSON does not know.
    return undefined
  }
}
