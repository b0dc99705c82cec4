export const isNonBlankString = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== ''

/** Lists of plain values have no common form (`resource` repeats, `ui_locales` has blanks): the caller must choose. */
function isPlainList(value: object): boolean {
  return Array.isArray(value) && value.some((entry) => typeof entry !== 'object' || entry === null)
}

/** Returns a value as the text of a request parameter, an object as JSON; `undefined` for one that has no such form. */
export function toParameterText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null)
    return ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : undefined
  try {
    return isPlainList(value) ? undefined : JSON.stringify(value)
  } catch {
    // It has a cycle, or a value that JSON does not know.
    return undefined
  }
}
