import type { MfaOptions } from './extensions/mfa/factors.ts'

/** A tenant of the application that users belong to. */
export interface Organization {
  /** Begins with `org_`. */
  readonly id: string
  /** Lower-case. */
  readonly name: string
}

/** A user as tests and the command line describe one. */
export interface UserOptions {
  /** Name for the login page, `autoLogin`, `login_hint` and `user`. */
  readonly name: string
  /** Name shown on the login page; default the claim `name`. */
  readonly label?: string
  /** Subject identifier; default `dev|<name>`. */
  readonly sub?: string
  /** Claims beside `sub`; any custom claim is delivered with the scope `openid`. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Where the parameter `organization` lets the user in; default none. */
  readonly organizations?: readonly Organization[]
  /** Factors that the user has from the start; default none. */
  readonly mfa?: MfaOptions
}

export interface User {
  readonly name: string
  readonly label?: string
  readonly sub: string
  readonly claims: Readonly<Record<string, unknown>>
  readonly organizations: readonly Organization[]
}

export interface UserDirectory {
  all(): readonly User[]
  byName(name: string): User | undefined
  bySub(sub: string): User | undefined
  /** A user by name, subject or e-mail address. */
  find(hint: string): User | undefined
  add(user: UserOptions): User
  /** Names of claims that no standard scope delivers. */
  customClaims(): readonly string[]
}

/** Claims that the scopes `profile` and `email` deliver (OpenID Connect Core 5.4). */
export const SCOPE_CLAIMS: { readonly profile: readonly string[]; readonly email: readonly string[] } = {
  profile: [
    'name',
    'family_name',
    'given_name',
    'middle_name',
    'nickname',
    'preferred_username',
    'profile',
    'picture',
    'website',
    'gender',
    'birthdate',
    'zoneinfo',
    'locale',
    'updated_at',
  ],
  email: ['email', 'email_verified'],
}

const STANDARD = new Set<string>(['sub', ...SCOPE_CLAIMS.profile, ...SCOPE_CLAIMS.email])

const COLOURS = ['#2563eb', '#15803d', '#b91c1c', '#6d28d9', '#b45309', '#0f766e'] as const

/** A portrait for anybody: the first letter of the name on a colour that the name decides. */
export function portrait(name: string): string {
  const sum = [...name].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0)
  const initial = /\p{L}|\p{N}/u.exec(name)?.[0].toUpperCase() ?? '?'
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48">' +
    `<rect width="48" height="48" fill="${COLOURS[sum % COLOURS.length] ?? COLOURS[0]}"/>` +
    '<text x="24" y="31" font-family="sans-serif" font-size="20" fill="#fff" text-anchor="middle">' +
    `${initial}</text></svg>`
  )
}

const ACME: Organization = { id: 'org_acme', name: 'acme' }
const GLOBEX: Organization = { id: 'org_globex', name: 'globex' }

const BUILT_IN: readonly UserOptions[] = [
  {
    name: 'alice',
    organizations: [ACME],
    claims: {
      name: 'Alice Anderson',
      given_name: 'Alice',
      family_name: 'Anderson',
      nickname: 'alice',
      email: 'alice@example.test',
      email_verified: true,
      updated_at: 1_767_225_600,
    },
  },
  {
    name: 'bob',
    organizations: [ACME, GLOBEX],
    claims: {
      name: 'Bob Brandt',
      given_name: 'Bob',
      family_name: 'Brandt',
      nickname: 'bob',
      email: 'bob@example.test',
      email_verified: false,
      // Many groups make an ID token that no longer fits into one cookie.
      'https://example.test/groups': Array.from(
        { length: 60 },
        (_, index) => `department-${String(index).padStart(2, '0')}/members/europe`,
      ),
    },
  },
  {
    name: 'mallory',
    label: 'Mallory (malicious claims)',
    claims: {
      name: `</script><script>alert(1)</script>" onload='alert(2)' \r\nSet-Cookie: owned=1 \u{1F608}\u202E`,
      given_name: '<img src=x onerror=alert(3)>',
      family_name: `O'"Malley & Söhne`,
      nickname: '{{constructor.constructor("alert(4)")()}}',
      email: 'mallory+"quoted"@example.test',
      email_verified: true,
    },
  },
]

/**
 * The users of one provider: the built-in three, those of the options, and those who signed up.
 *
 * @param pictures URL below which the provider serves portraits
 */
export function createUserDirectory(pictures: string, extra: readonly UserOptions[] = []): UserDirectory {
  const users = new Map<string, User>()
  const picture = (name: string): string => `${pictures}/${encodeURIComponent(name)}.svg`

  const add = (options: UserOptions): User => {
    const user: User = {
      name: options.name,
      ...(options.label === undefined ? {} : { label: options.label }),
      sub: options.sub ?? `dev|${options.name}`,
      claims: options.claims ?? {
        name: options.name,
        nickname: options.name,
        email: `${encodeURIComponent(options.name)}@example.test`,
        email_verified: false,
      },
      organizations: options.organizations ?? [],
    }
    users.set(user.name, user)
    return user
  }
  for (const user of BUILT_IN) add({ ...user, claims: { ...user.claims, picture: picture(user.name) } })
  for (const user of extra) add(user)

  const all = (): readonly User[] => [...users.values()]
  const bySub = (sub: string): User | undefined => all().find((user) => user.sub === sub)
  return {
    all,
    add,
    bySub,
    byName: (name) => users.get(name),
    find: (hint) => users.get(hint) ?? bySub(hint) ?? all().find((user) => user.claims['email'] === hint),
    customClaims: () => [
      ...new Set(
        all()
          .flatMap((user) => Object.keys(user.claims))
          .filter((claim) => !STANDARD.has(claim)),
      ),
    ],
  }
}
