import { expect, test } from 'vitest'
import { applyRefresh } from '../../tokens/apply.ts'
import type { TokenRequest } from '../../tokens/token-request.ts'
import { forgetConnection, withFewerTokens } from './further-tokens.ts'
import type { SessionData, StoredAccessTokenSet } from './session-data.ts'
import type { StoredSession } from './stored-session.ts'

const NOW = 1000
const log = { emit: () => {}, emitFailure: () => {}, once: () => {}, printException: () => {} }
const config = { audience: undefined, scope: { kind: 'text', scope: 'openid' } } as never

const wantFor = (audience: string): TokenRequest => ({
  audience,
  scope: '',
  wireParameters: { audience },
  force: false,
  isDefaultRequest: false,
})

function sessionWith(count: number, verifiedAt: readonly number[]): SessionData {
  let data: SessionData = {
    user: { sub: 'a' },
    tokenSet: { accessToken: 'main', expiresAt: NOW + 60, refreshToken: 'r' },
    internal: { createdAt: 0 },
  }
  for (let at = 0; at < count; at++) {
    const verified = verifiedAt.includes(at) ? { verified: true as const } : {}
    const grant = { accessToken: `t${at}`, tokenType: 'Bearer', expiresAt: NOW + 60, ...verified }
    data = applyRefresh(data, { config, want: wantFor(`https://api-${at}`), grant, now: NOW })
  }
  return data
}

function kept(session: StoredSession): readonly string[] {
  return (withFewerTokens(session, { log }).data.accessTokens ?? []).map(({ accessToken }) => accessToken)
}

test('[C2] tokens of an MFA verification are removed only if no others are left', () => {
  const stored = { sessionKey: 'h', usedAt: NOW }
  // The oldest one is verified: the next goes.
  const one = kept({ ...stored, data: sessionWith(102, [0]) })
  expect(one).toHaveLength(100)
  expect(one.slice(0, 2)).toEqual(['t0', 't3'])
  const all = Array.from({ length: 102 }, (_, at) => at)
  expect(kept({ ...stored, data: sessionWith(102, all) })[0]).toBe('t2')
  // Never the one that is being written.
  expect(kept({ ...stored, data: sessionWith(102, all), newAccessToken: 't0' })[0]).toBe('t0')
})

test('[C2] a refresh of a verified token makes it an ordinary one', () => {
  const data = sessionWith(1, [0])
  const [entry] = data.accessTokens as StoredAccessTokenSet[]
  expect(entry?.verified).toBe(true)
  const grant = { accessToken: 'new', tokenType: 'Bearer', expiresAt: NOW + 60 }
  const after = applyRefresh(data, { config, want: wantFor('https://api-0'), grant, now: NOW })
  expect(after.accessTokens).toEqual([
    { accessToken: 'new', expiresAt: NOW + 60, token_type: 'Bearer', audience: 'https://api-0', scope: '' },
  ])
})

test('[C2] a session without a refresh token, which could not bring them again, keeps all of them', () => {
  const { tokenSet, ...others } = sessionWith(102, [])
  const { refreshToken: _none, ...rest } = tokenSet
  expect(kept({ sessionKey: 'h', usedAt: NOW, data: { ...others, tokenSet: rest } })).toHaveLength(102)
})

test.each(['accessTokens', 'connectionTokenSets'])('a session whose %s are null has none', (name) => {
  const data = { ...sessionWith(0, []), [name]: null }
  expect(forgetConnection(data)).not.toHaveProperty('connectionTokenSets')
  const list = name === 'accessTokens' ? 'connectionTokenSets' : 'accessTokens'
  const tokens = Array.from({ length: 101 }, (_, at) => ({ accessToken: `t${at}`, expiresAt: NOW + 60 }))
  const session = { sessionKey: 'h', usedAt: NOW, data: { ...data, [list]: tokens } }
  expect(withFewerTokens(session, { log }).data).toMatchObject({ [list]: { length: 100 } })
})
