/** Adds a query to a URL. A module of its own, because only the entry `react` loads it at once. */
export const withQuery = (url: string, query: Record<string, string> | string[][]): string =>
  `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams(query)}`
