/**
 * Returns the path prefix of the application for browsers, `''` or `/path`: that of the base-path variable, otherwise
 * of the base URL.
 */
export function publicPrefix(basePath: string, baseUrl: string): string {
  return basePath === '' ? new URL(baseUrl).pathname.replace(/\/+$/, '') : basePath
}
