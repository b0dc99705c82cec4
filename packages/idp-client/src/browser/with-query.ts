export const withQuery = (url: string, query: Record<string, string> | string[][]): string =>
  `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams(query)}`
