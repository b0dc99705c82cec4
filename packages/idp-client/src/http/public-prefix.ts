/** The path under which browsers see the application, `''` or `/path`: the base-path variable's, else the base URL's own. */
export function publicPrefix(basePath: string, baseUrl: string): string {
  return basePath === '' ? new URL(baseUrl).pathname.replace(/\/+$/, '') : basePath
}
