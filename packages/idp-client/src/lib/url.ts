/**
 * Parses a URL; returns `null` if it is not one. Without `URL.canParse`, which rejects hosts with a letter of Latin-1 (`ü`) as soon as
 * Node.js 20 and 22 have optimized it.
 */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
