import type { Config } from '../../config/config.ts'
import type { Findings } from './findings.ts'
import { find } from './findings.ts'
import type { PlainResponse } from './http.ts'

/** Returns the attributes of a `Set-Cookie` line by their names in lower case. */
function toAttributes(line: string): ReadonlyMap<string, string> {
  const parts = line.split(';').slice(1)
  return new Map(
    parts.map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name.trim().toLowerCase(), value.join('=').trim()]
    }),
  )
}

/** Names of the attributes that are not as the application sets them. */
function findChanges(found: ReadonlyMap<string, string>, { transaction }: Config): string[] {
  const { domain, path, sameSite } = transaction.cookie
  const allowed: readonly (string | undefined)[] = [sameSite, 'none']
  return [
    !found.has('httponly') && 'HttpOnly',
    !allowed.includes(found.get('samesite')?.toLowerCase()) && 'SameSite',
    found.get('path') !== path && 'Path',
    found.get('domain')?.replace(/^\./, '') !== domain && 'Domain',
  ].filter((name) => name !== false)
}

/** Checks that the cookie of a login arrives as it was set. */
export function checkCookies(
  { headers }: PlainResponse,
  { app, config }: { readonly app: string; readonly config: Config },
): Findings {
  const { prefix } = config.transaction.cookie
  const line = headers.getSetCookie().find((cookie) => cookie.startsWith(prefix))
  if (line === undefined)
    return find('SET_COOKIE_LOST', `The login route sets no cookie whose name begins with ${prefix}.`)
  const attributes = toAttributes(line)
  const changes = findChanges(attributes, config)
  const isInsecure = app.startsWith('https:') && !attributes.has('secure')
  return [
    ...(changes.length === 0
      ? []
      : find(
          'COOKIE_CHANGED',
          `The cookie of a login differs from the configuration in ${changes.join(', ')}.`,
        )),
    ...(isInsecure ? find('COOKIE_NOT_SECURE', 'The cookie of a login is not Secure.') : []),
  ]
}
