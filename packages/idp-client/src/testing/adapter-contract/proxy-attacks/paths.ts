import type { AttackPlace, ProxyAttack } from './attack.ts'

type ToTarget = (place: AttackPlace) => string

/** Statuses of servers that find no page, reject the path themselves, or redirect to the normal one. */
const REFUSED = [308, 400, 404] as const
/** Statuses of servers that cannot read the first line. */
const UNREADABLE = [0, 400, 404, 505] as const
/** Statuses of servers that cannot decode a path. */
const UNDECODABLE = [308, 400, 404, 500] as const

/** A path that is never sent on. */
const refused = (title: string, target: ToTarget, statuses: readonly number[] = REFUSED): ProxyAttack => ({
  title,
  target,
  statuses,
  sent: [0],
})

/** A path that is not below the prefix: it is the application's, which may respond as it likes. */
const elsewhere = (title: string, target: ToTarget): ProxyAttack =>
  refused(title, target, [200, 307, ...REFUSED])

/**
 * A path that some servers normalize before the library sees it: then the request is for the path that is left, which must be below
 * the prefix. Otherwise it is refused.
 */
const normalized = (title: string, target: ToTarget, targets?: ProxyAttack['targets']): ProxyAttack => ({
  title,
  target,
  ...(targets && { targets }),
  statuses: [200, ...UNDECODABLE],
  sent: [0, 1],
})

const outside: readonly ProxyAttack[] = [
  refused('a dot segment', ({ id, prefix }) => `${prefix}/../${id}`),
  refused('an encoded dot segment', ({ id, prefix }) => `${prefix}/%2e%2e/${id}`),
  refused('a half encoded dot segment', ({ id, prefix }) => `${prefix}/.%2E/${id}`),
  refused('a dot segment with an encoded slash', ({ id, prefix }) => `${prefix}/..%2f..%2f${id}`),
  refused('a wholly encoded dot segment', ({ id, prefix }) => `${prefix}/%2e%2e%2f${id}`),
  refused('a dot segment with a parameter', ({ id, prefix }) => `${prefix}/..;/${id}`),
  refused('a dot segment with a named parameter', ({ id, prefix }) => `${prefix}/..;x=1/${id}`),
  refused('an encoded dot segment with a parameter', ({ id, prefix }) => `${prefix}/%2e%2e;/${id}`),
  refused('a dot segment with an encoded parameter', ({ id, prefix }) => `${prefix}/..%3b/${id}`),
  refused('a dot segment, encoded twice', ({ id, prefix }) => `${prefix}/%252e%252e/${id}`),
  refused('a dot segment and slash, encoded twice', ({ id, prefix }) => `${prefix}/%252e%252e%252f${id}`),
  refused('a dot segment, encoded three times', ({ id, prefix }) => `${prefix}/%25252e%25252e/${id}`),
  refused('dot segments with backslashes', ({ id, prefix }) => `${prefix}/..\\..\\${id}`),
  refused('dot segments with encoded backslashes', ({ id, prefix }) => `${prefix}/..%5c..%5c${id}`),
  refused('a dot segment behind a segment', ({ id, prefix }) => `${prefix}/x/../../${id}`),
  refused('an overlong encoding of dots', ({ id, prefix }) => `${prefix}/%c0%ae%c0%ae/${id}`, UNDECODABLE),
  elsewhere('the prefix in other case', ({ id, prefix }) => `${prefix.toUpperCase()}/${id}`),
  elsewhere('the prefix without a border', ({ id, prefix }) => `${prefix}x/${id}`),
  elsewhere('the prefix with a parameter', ({ id, prefix }) => `${prefix};x/${id}`),
  elsewhere('the prefix with an encoded slash', ({ id, prefix }) => `${prefix}%2f${id}`),
  elsewhere('the prefix with an encoded letter', ({ id, prefix }) => `${prefix.slice(0, -1)}%64/${id}`),
  elsewhere('the prefix with a dot', ({ id, prefix }) => `${prefix}./${id}`),
  elsewhere('the prefix as a user name', ({ id, prefix }) => `${prefix}@127.0.0.1/${id}`),
  elsewhere('the prefix in the second place', ({ id, prefix }) => `/x${prefix}/${id}`),
]

const characters: readonly ProxyAttack[] = [
  refused('an encoded slash', ({ id, prefix }) => `${prefix}/${id}%2fx`),
  refused('a slash, encoded twice', ({ id, prefix }) => `${prefix}/${id}%252fx`),
  refused('an encoded backslash', ({ id, prefix }) => `${prefix}/${id}%5cx`),
  refused('a NUL', ({ id, prefix }) => `${prefix}/${id}%00`),
  refused('a NUL, encoded twice', ({ id, prefix }) => `${prefix}/${id}%2500`),
  refused('a line break', ({ id, prefix }) => `${prefix}/${id}%0d%0aX-Injected:%201`),
  refused('a line feed', ({ id, prefix }) => `${prefix}/${id}%0a`),
  refused('a control character', ({ id, prefix }) => `${prefix}/${id}%7f`),
  refused('an encoded percent sign', ({ id, prefix }) => `${prefix}/${id}%25`, UNDECODABLE),
  refused('a percent sign, encoded twice', ({ id, prefix }) => `${prefix}/${id}%2525`, UNDECODABLE),
  refused('a lone percent sign', ({ id, prefix }) => `${prefix}/${id}%`, UNDECODABLE),
  refused('an encoding of no standard', ({ id, prefix }) => `${prefix}/${id}%u002e`, UNDECODABLE),
  refused('a byte that is no UTF-8', ({ id, prefix }) => `${prefix}/${id}%ff`, UNDECODABLE),
]

const otherForms: readonly ProxyAttack[] = [
  normalized('a backslash', ({ id, prefix }) => `${prefix}\\${id}`),
  normalized('a dot segment in front of the prefix', ({ id, prefix }) => `/x/..${prefix}/${id}`),
  normalized('a single dot', ({ id, prefix }) => `${prefix}/./${id}`),
  normalized(
    'an encoded dot at the end',
    ({ id, prefix }) => `${prefix}/${id}/%2e`,
    (id) => [`/${id}/`, `/${id}`],
  ),
  normalized(
    'dots that stay inside',
    ({ id, prefix }) => `${prefix}/${id}/x/..`,
    (id) => [`/${id}/`, `/${id}`],
  ),
  normalized(
    'an empty segment',
    ({ id, prefix }) => `${prefix}//${id}`,
    (id) => [`//${id}`, `/${id}`],
  ),
  normalized('an empty segment in front of the prefix', ({ id, prefix }) => `/${prefix}/${id}`),
  normalized('a fragment', ({ id, prefix }) => `${prefix}/${id}#/../x`),
  normalized('the absolute form', ({ authority, id, prefix }) => `http://${authority}${prefix}/${id}`),
  normalized('the absolute form of another host', ({ id, prefix }) => `http://evil.example${prefix}/${id}`),
  normalized('the absolute form of another scheme', ({ id, prefix }) => `ftp://evil.example${prefix}/${id}`),
  // Some servers take these for the root.
  refused(
    'the absolute form with dots',
    ({ authority, id, prefix }) => `http://${authority}${prefix}/%2e%2e/${id}`,
    [200, ...UNDECODABLE],
  ),
  refused('no path', ({ id }) => `*?${id}`, [200, ...UNDECODABLE]),
  refused('a path without a slash', ({ id, prefix }) => `${prefix.slice(1)}/${id}`, [0, ...REFUSED]),
  refused('a space', ({ id, prefix }) => `${prefix}/${id} x`, UNREADABLE),
  refused('a bare control character', ({ id, prefix }) => `${prefix}/${id}\x01`, UNREADABLE),
  {
    title: 'dots, slashes and an address in the query, which is no path',
    target: ({ id, prefix }) => `${prefix}/${id}?/../..%2f..//evil.example/@x=http://evil.example`,
    targets: (id) => [`/${id}?/../..%2f..//evil.example/@x=http://evil.example`],
    statuses: [200],
    sent: [1],
  },
  {
    title: 'a segment that looks like an address',
    target: ({ id, prefix }) => `${prefix}/@evil.example:80/${id}`,
    targets: (id) => [`/@evil.example:80/${id}`],
    statuses: [200],
    sent: [1],
  },
]

/** Attacks by the path of a request. */
export const paths: readonly ProxyAttack[] = [...outside, ...characters, ...otherForms]
