/** A place below the URL of the API; `relative` and `query` are so for a request below it. */
export type InwardPlace = 'relative' | 'query' | 'path' | 'url' | 'hostRelative' | 'root'

/** A place outside of the API, or one that a client takes for a place outside after it has decoded or normalized it. */
export type OutwardPlace =
  | 'otherHost'
  | 'otherHostRelative'
  | 'otherPort'
  | 'otherScheme'
  | 'userinfo'
  | 'above'
  | 'beside'
  | 'dots'
  | 'encodedDots'
  | 'twiceEncodedDots'
  | 'encodedSlash'
  | 'backslashes'
  | 'slashBackslash'
  | 'tab'
  | 'javascript'
  | 'invalid'

export type RedirectPlace = InwardPlace | OutwardPlace

/** The value of `Location` for each place. */
const locations: Record<RedirectPlace, (target: URL) => string> = {
  relative: () => 'next?page=2',
  query: () => '?page=2',
  path: ({ pathname }) => `${pathname}/next?page=2`,
  url: ({ href }) => `${href}/next?page=2`,
  hostRelative: ({ host, pathname }) => `//${host}${pathname}/next?page=2`,
  root: ({ pathname }) => pathname,
  otherHost: ({ pathname }) => `http://other.example${pathname}/next`,
  otherHostRelative: ({ pathname }) => `//other.example${pathname}/next`,
  otherPort: ({ hostname, pathname }) => `http://${hostname}:1${pathname}/next`,
  otherScheme: ({ host, pathname }) => `https://${host}${pathname}/next`,
  userinfo: ({ host, pathname }) => `http://user:secret@${host}${pathname}/next`,
  above: () => '/next',
  beside: ({ pathname }) => `${pathname}beside/next`,
  dots: ({ pathname }) => `${pathname}/../admin`,
  encodedDots: ({ pathname }) => `${pathname}/%2e%2e/admin`,
  twiceEncodedDots: ({ pathname }) => `${pathname}/%252e%252e/admin`,
  encodedSlash: ({ pathname }) => `${pathname}/..%2fadmin`,
  backslashes: ({ pathname }) => `${pathname}\\..\\admin`,
  slashBackslash: () => '/\\other.example/next',
  tab: () => '/\t/other.example/next',
  javascript: () => 'javascript:alert(1)',
  invalid: () => 'http://[',
}

/** Returns the location of a place, for an API whose URL is `target`. */
export function toLocation(place: RedirectPlace, target: string): string {
  return locations[place](new URL(target))
}
