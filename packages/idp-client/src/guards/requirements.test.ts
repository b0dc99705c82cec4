import { describe, expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { SessionData, TokenSet } from '../session/model/session-data.ts'
import type { Requirements, Unmet } from './requirements.ts'
import { findUnmet, toEvidence } from './requirements.ts'

const NOW = 1_800_000_000
const config = { ...engineFor().engine.config, clock: () => NOW }

function idTokenOf(claims: unknown): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
}

function sessionOf(claims: object, tokens: Partial<TokenSet> = {}): SessionData {
  return {
    user: { sub: 'alice' },
    tokenSet: {
      accessToken: 'a',
      expiresAt: NOW + 600,
      idToken: idTokenOf({ sub: 'alice', ...claims }),
      ...tokens,
    },
    internal: { createdAt: NOW },
  }
}

const unmetIn = (requirements: Requirements, session: Parameters<typeof toEvidence>[0], by = config) =>
  findUnmet(requirements, toEvidence(session, 'openid a'), by)
const unmet = (requirements: Requirements, data: SessionData, by = config): Unmet | null =>
  unmetIn(requirements, { data }, by)

type State = 'absent' | 'met' | 'unmet'
type Name = Exclude<keyof Requirements, 'authorize'>

/** Each requirement with a session that meets it, one that does not, and the missing part. */
const rows: Record<Name, { demand: Requirements; met: object; unmet: object; missing: Unmet }> = {
  maxAge: {
    demand: { maxAge: 300 },
    met: { auth_time: NOW - 300 },
    unmet: { auth_time: NOW - 400 },
    missing: 'authentication',
  },
  acr: {
    demand: { acr: ['silver', 'gold'] },
    met: { acr: 'gold' },
    unmet: { acr: 'bronze' },
    missing: 'authentication',
  },
  amr: {
    demand: { amr: ['pwd', 'otp'] },
    met: { amr: ['otp', 'x', 'pwd'] },
    unmet: { amr: ['pwd'] },
    missing: 'authentication',
  },
  organization: {
    demand: { organization: ['org_1', 'acme'] },
    met: { org_id: 'org_7', org_name: 'acme' },
    unmet: { org_id: 'org_2', org_name: 'other' },
    missing: 'organization',
  },
  scope: {
    demand: { scope: ['a', 'b'] },
    met: { scope: 'c b a' },
    unmet: { scope: 'a' },
    missing: 'scope',
  },
}
const names = Object.keys(rows) as Name[]
const states: State[] = ['absent', 'met', 'unmet']

/** All combinations of states, one per name. */
function combinations(): Record<Name, State>[] {
  return names.reduce<Partial<Record<Name, State>>[]>(
    (all, name) => all.flatMap((one) => states.map((state) => ({ ...one, [name]: state }))),
    [{}],
  ) as Record<Name, State>[]
}

/** The first line that fits decides; written down, not computed from the module. */
const PRIORITIES: readonly (readonly [readonly Name[], Unmet])[] = [
  [['maxAge', 'acr', 'amr'], 'authentication'],
  [['organization'], 'organization'],
  [['scope'], 'scope'],
]

function expected(states: Record<Name, State>): Unmet | null {
  const line = PRIORITIES.find(([among]) => among.some((name) => states[name] === 'unmet'))
  return line ? line[1] : null
}

describe('truth table', () => {
  test('all combinations of five requirements, each absent, met or unmet, have the expected result', () => {
    const table = combinations()
    expect(table).toHaveLength(243)
    const seen = new Map<Unmet | null, number>()
    for (const states of table) {
      const demanded = names.filter((name) => states[name] !== 'absent')
      const requirements = Object.assign({}, ...demanded.map((name) => rows[name].demand))
      const { scope, ...claims } = Object.assign(
        {},
        ...names.map((name) => rows[name][states[name] === 'unmet' ? 'unmet' : 'met']),
      )
      const result = unmet(requirements, sessionOf(claims, { scope }))
      expect(result, JSON.stringify(states)).toBe(expected(states))
      seen.set(result, (seen.get(result) ?? 0) + 1)
    }
    // 3^2 * (27 - 8) rows lack authentication; of the others 8 * 3 the organization, 8 * 2 the scope.
    expect(Object.fromEntries(seen)).toEqual({ authentication: 171, organization: 24, scope: 16, null: 32 })
  })

  test('each requirement alone can reject a session, and without requirements every session is accepted', () => {
    for (const name of names) {
      const { demand, missing } = rows[name]
      expect(unmet(demand, sessionOf({})), name).toBe(missing)
    }
    expect(unmet({}, sessionOf({}))).toBeNull()
  })
})

describe('maxAge', () => {
  test.each([
    [NOW - 360, true],
    [NOW - 361, false],
    [NOW + 60, true],
    [NOW + 61, false],
  ])('auth_time %i is compared with 60 s of tolerance in both directions', (authTime, met) => {
    expect(unmet({ maxAge: 300 }, sessionOf({ auth_time: authTime })) === null).toBe(met)
  })

  test('0 accepts only an authentication of this moment', () => {
    expect(unmet({ maxAge: 0 }, sessionOf({ auth_time: NOW - 60 }))).toBeNull()
    expect(unmet({ maxAge: 0 }, sessionOf({ auth_time: NOW - 61 }))).toBe('authentication')
    const exact = { ...config, dpop: { ...config.dpop, clockTolerance: 0 } }
    expect(unmet({ maxAge: 0 }, sessionOf({ auth_time: NOW }), exact)).toBeNull()
  })

  test.each([[undefined], [null], [String(NOW)], [[NOW]], [{}], [true]])(
    'an auth_time that is not a number (%j) is too old',
    (authTime) => {
      expect(unmet({ maxAge: 300 }, sessionOf({ auth_time: authTime }))).toBe('authentication')
    },
  )

  test('the age of the session does not count as that of the authentication', () => {
    const session = { ...sessionOf({ auth_time: NOW - 4000 }), internal: { createdAt: NOW } }
    expect(unmet({ maxAge: 300 }, session)).toBe('authentication')
  })
})

describe('values that do not meet a requirement', () => {
  const all: [string, Requirements, object][] = [
    ['an acr in other letters', { acr: ['gold'] }, { acr: 'Gold' }],
    ['a list as acr', { acr: ['gold'] }, { acr: ['gold'] }],
    ['a number as acr', { acr: ['1'] }, { acr: 1 }],
    ['a text as amr', { amr: ['otp'] }, { amr: 'pwd otp' }],
    ['an object as amr', { amr: ['otp'] }, { amr: { includes: true, otp: true } }],
    ['an organization id in other letters', { organization: ['org_a'] }, { org_id: 'ORG_A' }],
    ['a list as organization', { organization: ['org_a'] }, { org_id: ['org_a'] }],
    [
      'a name that is the id of another one',
      { organization: ['org_a'] },
      { org_id: 'org_b', org_name: 'org_a' },
    ],
    ['a name in letters that look alike', { organization: ['acme'] }, { org_name: '\u0430cme' }],
    ['a name in full width', { organization: ['acme'] }, { org_name: 'ａcme' }],
    ['part of a name', { organization: ['acme'] }, { org_name: 'acme-corp' }],
  ]
  test.each(all)('%s does not count', (_what, requirements, claims) => {
    expect(unmet(requirements, sessionOf(claims))).not.toBeNull()
  })

  test('claims of the user do not count, because hooks write them', () => {
    const strong = { auth_time: NOW, acr: 'gold', amr: ['otp'], org_id: 'org_1', org_name: 'acme' }
    for (const name of ['maxAge', 'amr', 'organization'] as const) {
      const session = sessionOf({})
      session.user = { sub: 'alice', ...strong }
      expect(unmet(rows[name].demand, session), name).toBe(rows[name].missing)
    }
  })

  test.each([
    ['no ID token', undefined],
    ['one that is no JWT', 'opaque'],
    ['one whose payload is no JSON', 'e30.bm9uZQ.c2ln'],
    ['one whose payload is no object', idTokenOf('gold')],
    ['one whose payload is null', idTokenOf(null)],
    ['one without a subject', idTokenOf({ acr: 'gold' })],
  ])('%s does not count', (_what, idToken) => {
    const { idToken: _none, ...tokens } = sessionOf({}).tokenSet
    const session = { ...sessionOf({}), tokenSet: { ...tokens, ...(idToken ? { idToken } : {}) } }
    expect(unmet({ acr: ['gold'] }, session)).toBe('authentication')
  })

  test('inherited properties do not count', () => {
    const claims = JSON.parse('{"__proto__": {"acr": "gold"}}') as object
    expect(unmet({ acr: ['gold'] }, sessionOf(claims))).toBe('authentication')
    const prototype = Object.prototype as { acr?: string }
    prototype.acr = 'gold'
    try {
      expect(unmet({ acr: ['gold'] }, sessionOf({}))).toBe('authentication')
    } finally {
      delete prototype.acr
    }
  })
})

describe('claims that a refresh changed', () => {
  const proven = { acr: 'gold', amr: ['pwd', 'otp'], org_id: 'org_1', org_name: 'acme' }
  const strong: Requirements = { acr: ['gold'], amr: ['otp'] }
  test.each<[string, object, object, Unmet | null]>([
    ['neither', {}, {}, null],
    ['null', { acr: null, amr: null }, {}, null],
    ['the same', { acr: 'gold', amr: ['otp'] }, {}, null],
    ['a weaker acr', { acr: 'bronze' }, {}, 'authentication'],
    ['fewer methods', { amr: ['pwd'] }, {}, 'authentication'],
    ['weaker ones, before a step-up', { acr: 'bronze', amr: ['pwd'] }, { ahead: true }, null],
    ['stronger ones than the login', { acr: 'gold', amr: ['otp'] }, { acr: 'bronze' }, 'authentication'],
  ])('acr and amr: the stored ID token names %s', (_what, claims, changes, expected) => {
    const session = { data: sessionOf(claims), authentication: { ...proven, ...changes } }
    expect(unmetIn(strong, session)).toBe(expected)
  })

  test('an organization has its present name, or without an ID token that of the login', () => {
    const renamed = sessionOf({ org_id: 'org_1', org_name: 'new' })
    const { idToken: _none, ...tokenSet } = renamed.tokenSet
    const organizationsOf = (data: SessionData) =>
      ['org_1', 'acme', 'new'].filter(
        (one) => !unmetIn({ organization: [one] }, { data, authentication: proven }),
      )
    expect(organizationsOf(renamed)).toEqual(['org_1', 'new'])
    expect(organizationsOf({ ...renamed, tokenSet })).toEqual(['org_1', 'acme'])
  })
})

describe('organization and scope', () => {
  test('an organization matches by id, or by name in any case', () => {
    const session = sessionOf({ org_id: 'org_A', org_name: 'Acme' })
    for (const organization of [['org_A'], ['acme'], ['ACME'], ['other', 'acme']]) {
      expect(unmet({ organization }, session)).toBeNull()
    }
  })

  test('[C8] only the part of the requested scope that the application requested counts', () => {
    const session = sessionOf({}, { requestedScope: 'openid a b c' })
    const byLink = (scope: string) => unmetIn({ scope: [scope] }, { data: session, ownScope: 'b' })
    expect([byLink('a'), byLink('b'), byLink('c')]).toEqual([null, null, 'scope'])
    const granted = sessionOf({}, { requestedScope: 'openid', scope: 'c' })
    expect(unmet({ scope: ['c'] }, granted)).toBeNull()
    const narrower = sessionOf({}, { requestedScope: 'openid' })
    expect(unmetIn({ scope: ['a'] }, { data: narrower, ownScope: 'a' })).toBe('scope')
  })

  test("the requested scope counts only if the provider's response named none", () => {
    const demand = { scope: ['a'] }
    expect(unmet(demand, sessionOf({}, { requestedScope: 'openid a' }))).toBeNull()
    expect(unmet(demand, sessionOf({}, { requestedScope: 'a', scope: 'openid' }))).toBe('scope')
    expect(unmet(demand, sessionOf({}, { requestedScope: 'a', scope: '' }))).toBe('scope')
    expect(unmet(demand, sessionOf({}, { scope: 'aa ab' }))).toBe('scope')
    const odd = sessionOf({})
    Object.assign(odd.tokenSet, { scope: ['a'] })
    expect(unmet(demand, odd)).toBe('scope')
    Object.assign(odd.tokenSet, { scope: undefined, requestedScope: ['a'] })
    expect(unmet(demand, odd)).toBe('scope')
  })
})
