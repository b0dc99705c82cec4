/**
 * Parses a URL; returns `null` if it is not one. Use it instead of `URL.canParse`, which rejects hosts with a letter of Latin-1
 * (`ü`) once Node.js 20 or 22 has optimized it.
 */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

/** Parses a redirect URI (RFC 6749 section 3.1.2); returns `null` unless it is a URL of http or https without fragment. */
export function parseRedirectUri(uri: string): URL | null {
  return /^https?:\/\/[^\s\\#]+$/i.test(uri) ? parseUrl(uri) : null
}

/** Returns whether a path is `folder`, or below it; compared at the border of a segment. */
export function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}
